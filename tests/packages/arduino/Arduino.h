/* SPDX-License-Identifier: Apache-2.0 */
/* The little of Arduino's language that our example uses, as its reference tells it. */
#ifndef STUB_ARDUINO_H
#define STUB_ARDUINO_H

#include <stddef.h>
#include <stdint.h>

#define LOW 0
#define HIGH 1
#define OUTPUT 1
#define MSBFIRST 1
#define A0 14

void pinMode(int pin, int mode);
void digitalWrite(int pin, int level);
int analogRead(int pin);
void delay(unsigned long ms);
void delayMicroseconds(unsigned int us);
void setup();
void loop();

struct SerialPort {
    void begin(unsigned long baud);
    void print(const char *text);
    void println(const char *text);
};
extern SerialPort Serial;

#endif
