/* A client of `bombus check --via` in C: K counters from 0 to N-1 that start again, as `examples/counters.py`.
   cc -O2 counters.c -o counters && bombus check --via './counters 4 40' */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char asked[1 << 24], answer[1 << 26];
static size_t length;

static void put(const void *bytes, size_t count) {
    memcpy(answer + length, bytes, count);
    length += count;
}
static void put8(uint8_t n) { put(&n, 1); }
static void put16(uint16_t n) { put(&n, 2); }
static void put32(uint32_t n) { put(&n, 4); }
static void put64(uint64_t n) { put(&n, 8); }
static void text(const char *words) {
    put16((uint16_t)strlen(words));
    put(words, strlen(words));
}

static void hello(int counters) {
    put32(1);
    text("counters");
    put32((uint32_t)counters);
    put32((uint32_t)counters);
    for (int i = 0; i < counters; i++) {
        char name[16];
        snprintf(name, sizeof name, "raise%d", i);
        text(name);
    }
}

static void initial(int counters) {
    static const unsigned char zero[256];
    put8(0);
    put32(1);
    put32(0);
    put64(0);
    put(zero, (size_t)counters);
    put32(0);
}

static void successors(const unsigned char *state, int counters, int values) {
    put8(0);
    put32((uint32_t)counters);
    for (int i = 0; i < counters; i++) {
        put32((uint32_t)i);
        put64(0);
        put(state, (size_t)counters);
        answer[length - (size_t)counters + (size_t)i] = (unsigned char)((state[i] + 1) % values);
    }
    put32(0);
}

int main(int count, char **words) {
    if (count != 3) return 2;
    int counters = atoi(words[1]), values = atoi(words[2]);
    uint32_t size;
    while (fread(&size, 4, 1, stdin) == 1) {
        if (size > sizeof asked || fread(asked, 1, size, stdin) != size) return 1;
        length = 4;
        put8(asked[0]);
        if (asked[0] == 1) hello(counters);
        else if (asked[0] == 2) initial(counters);
        else if (asked[0] == 3)
            for (uint32_t at = 5; at < size; at += (uint32_t)counters) successors(asked + at, counters, values);
        else put16(0);
        uint32_t body = (uint32_t)length - 4;
        memcpy(answer, &body, 4);
        fwrite(answer, 1, length, stdout);
        fflush(stdout);
    }
    return 0;
}
