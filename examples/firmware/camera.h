/* SPDX-License-Identifier: Apache-2.0 */
/* camera.h - between the camera's firmware and what it does in virtual memory. */
#ifndef CAMERA_H
#define CAMERA_H

#include <stdint.h>

struct picture {
    uint32_t width;
    uint32_t height;
    uint32_t sum;  /* over all bytes of the decoded picture, to compare it with another decoder's */
    uint8_t gray;  /* the picture's mean */
};

/* Decodes a JPEG and turns it gray: 0, or negative when it is none or memory is too small. */
int camera_decode(const uint8_t *jpeg, uint32_t bytes, struct picture *picture);

#endif
