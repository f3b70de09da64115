/* Foreign code. Another compiler makes it, so no optimizer sees both sides of a
   call, and link-time optimization does not reach it. */

/* Nothing but the call. */
unsigned long corolab_noop(unsigned long count) {
    return count;
}

/* Each addition needs the one before: a chain of one cycle each. The empty
   statements keep the compiler from adding them up. */
#define ADD count += 1; __asm__("" : "+r"(count));
#define FOUR ADD ADD ADD ADD

unsigned long corolab_adds16(unsigned long count) {
    FOUR FOUR FOUR FOUR
    return count - 16;
}

unsigned long corolab_adds20(unsigned long count) {
    FOUR FOUR FOUR FOUR FOUR
    return count - 20;
}

/* Needs 64 KiB of stack, and touches each page of it from the top down, as
   deeper and deeper calls would: a guard page below is met, never jumped. Each
   touch is a cache line further than a page away, or all would fall into one set
   of the cache. */
#define PAGE 4096
#define STEP (PAGE - 64)
#define DEEP (16 * PAGE)

unsigned long corolab_deep(unsigned long count) {
    volatile unsigned char frame[DEEP];
    for (int at = DEEP - 1; at >= 0; at -= STEP)
        frame[at] = (unsigned char)count;
    return count - (unsigned char)count + frame[DEEP - 1];
}
