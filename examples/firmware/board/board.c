/* SPDX-License-Identifier: Apache-2.0 */
/* The board of the examples. The three functions that the drivers need come first. */
#include "board.h"

#include "stm32f103.h"

#define MHZ 72U
#define SELECT_PIN 4U
#define SPI_KHZ 18000U

static volatile uint32_t now_ms;

/* THE PART */

/* A plain output pin. The SPI unit's own NSS would end the command after each byte. Nobody else
 * uses the wires: with NW_SPI_RAISE the line is high, and there is no lock to keep. */
static int spi_select(struct nw_spi *spi, uint8_t on)
{
    (void)spi;
    GPIOA_BSRR = on == NW_SPI_SELECT ? 1U << (SELECT_PIN + 16U) : 1U << SELECT_PIN;
    return NW_OK;
}

/* A byte that has come back has left: what is received last ends the transfer, and nothing is cut
 * off when the part is deselected behind it. */
static int spi_transfer(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length)
{
    (void)spi;
    for (uint16_t i = 0; i < length; i++) {
        uint8_t byte;

        SPI1_DR = out != NULL ? out[i] : 0xFFU;
        while ((SPI1_SR & SPI_SR_RXNE) == 0) {
        }
        byte = (uint8_t)SPI1_DR;
        if (in != NULL) {
            in[i] = byte;
        }
    }
    return NW_OK;
}

/* One shot of a timer that counts microseconds; one more than asked, since the first may be short.
 * The watchdog is not fed here: a part that is stuck must not keep the node alive. */
static int spi_wait(struct nw_spi *spi, uint16_t us)
{
    (void)spi;
    TIM2_ARR = us;
    TIM2_EGR = 1; /* from 0, with the new end */
    TIM2_SR = 0;
    TIM2_CR1 = TIM_CR1_OPM | TIM_CR1_CEN;
    while ((TIM2_SR & TIM_SR_UIF) == 0) {
    }
    return NW_OK;
}

/* Cards only: 72 MHz divided by 4, 8, .. 256. */
static int spi_clock(struct nw_spi *spi, uint32_t khz)
{
    uint32_t exponent = 1;

    (void)spi;
    while (exponent < 7U && (MHZ * 1000U >> (exponent + 1U)) > khz) {
        exponent++;
    }
    SPI1_CR1 = SPI_CR1_MSTR | SPI_CR1_SSM | SPI_CR1_SSI | SPI_CR1_BR(exponent) | SPI_CR1_SPE;
    return NW_OK;
}

static const struct nw_spi_ops ops = {
    .select = spi_select,
    .transfer = spi_transfer,
    .wait = spi_wait,
    .clock = spi_clock,
};
struct nw_spi board_spi = {.ops = &ops, .khz = SPI_KHZ};

/* THE PROCESSOR */

/* Waits for the clock tree. A crystal that does not start is tried again from the beginning: to
 * wait for ever would leave the node dead, with no watchdog as yet. */
static void await_clock(volatile uint32_t *status, uint32_t mask, uint32_t value)
{
    for (uint32_t left = 1000000; (*status & mask) != value; left--) { /* half a second at 8 MHz */
        if (left == 0) {
            board_reset();
        }
    }
}

static void open_clocks(void)
{
    FLASH_ACR = FLASH_ACR_TWO_WAITS;
    RCC_CR |= RCC_CR_HSEON;
    await_clock(&RCC_CR, RCC_CR_HSERDY, RCC_CR_HSERDY);
    RCC_CFGR = RCC_CFGR_PLL_HSE_TIMES_9 | RCC_CFGR_PPRE1_DIV2 | RCC_CFGR_ADCPRE_DIV6;
    RCC_CR |= RCC_CR_PLLON;
    await_clock(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
    RCC_CFGR |= RCC_CFGR_SW_PLL;
    await_clock(&RCC_CFGR, RCC_CFGR_SWS_PLL, RCC_CFGR_SWS_PLL);
    RCC_APB2ENR = RCC_APB2_GPIOA | RCC_APB2_SPI1 | RCC_APB2_USART1 | RCC_APB2_ADC1;
    RCC_APB1ENR = RCC_APB1_TIM2;
}

void board_open(void)
{
    open_clocks();
    GPIOA_BSRR = 1U << SELECT_PIN;
    GPIOA_CRL = 0xB4B34440U; /* PA7, PA5 the unit's; PA4 an output; PA0 analogue */
    GPIOA_CRH = 0x444444B4U; /* PA9 the console's output, PA10 its input */
    (void)spi_clock(&board_spi, SPI_KHZ);
    USART1_BRR = MHZ * 1000000U / 115200U;
    USART1_CR1 = USART_CR1_UE | USART_CR1_TE | USART_CR1_RE;
    TIM2_PSC = MHZ - 1U; /* timers of APB1 / 2 run at twice its clock */
    ADC1_CR2 = ADC_CR2_ADON | ADC_CR2_CONT;
    ADC1_CR2 = ADC_CR2_ADON | ADC_CR2_CONT; /* the second one starts it */
    SYSTICK_LOAD = MHZ * 1000U - 1U;
    SYSTICK_VAL = 0;
    SYSTICK_CTRL = 7; /* the processor's clock, interrupt, on */
}

uint32_t board_ms(void)
{
    return now_ms;
}

void board_sleep(void)
{
    __asm__ volatile("wfi");
}

__attribute__((weak)) void board_tick(uint32_t ms)
{
    (void)ms;
}

void systick_handler(void);
void systick_handler(void)
{
    uint32_t ms = now_ms + 1U;

    now_ms = ms;
    board_tick(ms);
}

uint16_t board_sample(void)
{
    return (uint16_t)ADC1_DR;
}

/* THE CONSOLE */

static void say_letter(char letter)
{
    while ((USART1_SR & USART_SR_TXE) == 0) {
    }
    USART1_DR = (uint32_t)(unsigned char)letter;
}

void board_said(void)
{
    while ((USART1_SR & USART_SR_TC) == 0) {
    }
}

void board_say(const char *text)
{
    while (*text != '\0') {
        say_letter(*text++);
    }
}

void board_say_number(int32_t number)
{
    char digits[11];
    uint32_t left = number < 0 ? 0U - (uint32_t)number : (uint32_t)number;
    uint32_t count = 0;

    do {
        digits[count++] = (char)('0' + left % 10U);
        left /= 10U;
    } while (left > 0);
    say_letter(' ');
    if (number < 0) {
        say_letter('-');
    }
    while (count > 0) {
        say_letter(digits[--count]);
    }
}

void board_say_line(const char *text, int32_t number)
{
    board_say(text);
    board_say_number(number);
    say_letter('\n');
}

int board_heard(void)
{
    return (USART1_SR & USART_SR_RXNE) != 0 ? (int)(USART1_DR & 0xFFU) : -1;
}

int board_heard_first(char letter)
{
    while (board_ms() < 100U) {
        if (board_heard() == letter) {
            return 1;
        }
        board_sleep();
    }
    return 0;
}

/* WHEN THINGS GO WRONG */

void board_watch(uint32_t ms)
{
    uint32_t ticks = ms * 10U / 64U; /* 40 kHz / 256 */

    IWDG_KR = 0x5555;
    IWDG_PR = 6;
    IWDG_RLR = ticks < 0xFFFU ? ticks : 0xFFFU;
    IWDG_KR = 0xCCCC;
}

void board_alive(void)
{
    IWDG_KR = 0xAAAA;
}

void board_reset(void)
{
    SCB_AIRCR = SCB_AIRCR_RESET;
    for (;;) {
    }
}

void board_fail(const char *what, int result)
{
    uint32_t since = board_ms();

    board_say_line(what, result);
    while (board_ms() - since < 1000U) {
        board_sleep();
    }
    board_reset();
}
