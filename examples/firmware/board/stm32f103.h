/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of an STM32F103 that the examples touch. In a project of your own take your
 * vendor's header; the names are the same.
 * Source: ST RM0008 (registers), PM0056 (SysTick, SCB).
 */
#ifndef STM32F103_H
#define STM32F103_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define RCC_CR REGISTER(0x40021000U)
#define RCC_CR_HSEON (1U << 16)
#define RCC_CR_HSERDY (1U << 17)
#define RCC_CR_PLLON (1U << 24)
#define RCC_CR_PLLRDY (1U << 25)
#define RCC_CFGR REGISTER(0x40021004U)
#define RCC_CFGR_SW_PLL 2U
#define RCC_CFGR_SWS_PLL (2U << 2)
#define RCC_CFGR_PPRE1_DIV2 (4U << 8)
#define RCC_CFGR_ADCPRE_DIV6 (2U << 14)
#define RCC_CFGR_PLL_HSE_TIMES_9 (1U << 16 | 7U << 18)
#define RCC_APB2ENR REGISTER(0x40021018U)
#define RCC_APB2_GPIOA (1U << 2)
#define RCC_APB2_ADC1 (1U << 9)
#define RCC_APB2_SPI1 (1U << 12)
#define RCC_APB2_USART1 (1U << 14)
#define RCC_APB1ENR REGISTER(0x4002101CU)
#define RCC_APB1_TIM2 1U

#define FLASH_ACR REGISTER(0x40022000U)
#define FLASH_ACR_TWO_WAITS (2U | 1U << 4)

#define GPIOA_CRL REGISTER(0x40010800U)
#define GPIOA_CRH REGISTER(0x40010804U)
#define GPIOA_BSRR REGISTER(0x40010810U)

#define SPI1_CR1 REGISTER(0x40013000U)
#define SPI_CR1_MSTR (1U << 2)
#define SPI_CR1_BR(exponent) ((uint32_t)(exponent) << 3)
#define SPI_CR1_SPE (1U << 6)
#define SPI_CR1_SSI (1U << 8)
#define SPI_CR1_SSM (1U << 9)
#define SPI1_SR REGISTER(0x40013008U)
#define SPI_SR_RXNE 1U
#define SPI1_DR REGISTER(0x4001300CU)

#define USART1_SR REGISTER(0x40013800U)
#define USART_SR_RXNE (1U << 5)
#define USART_SR_TC (1U << 6)
#define USART_SR_TXE (1U << 7)
#define USART1_DR REGISTER(0x40013804U)
#define USART1_BRR REGISTER(0x40013808U)
#define USART1_CR1 REGISTER(0x4001380CU)
#define USART_CR1_RE (1U << 2)
#define USART_CR1_TE (1U << 3)
#define USART_CR1_UE (1U << 13)

#define TIM2_CR1 REGISTER(0x40000000U)
#define TIM_CR1_CEN 1U
#define TIM_CR1_OPM (1U << 3)
#define TIM2_SR REGISTER(0x40000010U)
#define TIM_SR_UIF 1U
#define TIM2_EGR REGISTER(0x40000014U)
#define TIM2_PSC REGISTER(0x40000028U)
#define TIM2_ARR REGISTER(0x4000002CU)

#define ADC1_CR2 REGISTER(0x40012408U)
#define ADC_CR2_ADON 1U
#define ADC_CR2_CONT (1U << 1)
#define ADC1_DR REGISTER(0x4001244CU)

#define IWDG_KR REGISTER(0x40003000U)
#define IWDG_PR REGISTER(0x40003004U)
#define IWDG_RLR REGISTER(0x40003008U)

#define SYSTICK_CTRL REGISTER(0xE000E010U)
#define SYSTICK_LOAD REGISTER(0xE000E014U)
#define SYSTICK_VAL REGISTER(0xE000E018U)
#define SCB_AIRCR REGISTER(0xE000ED0CU)
#define SCB_AIRCR_RESET (0x05FA0000U | 1U << 2)

#endif
