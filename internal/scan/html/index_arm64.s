#include "textflag.h"

// PAIR writes base (R5) plus the offsets of the two lowest bits of R7 to off(R8),
// and clears the bits.
#define PAIR(off) \
	RBIT R7, R9; \
	CLZ R9, R9; \
	SUB $1, R7, R10; \
	AND R10, R7, R7; \
	ADDW R5, R9, R9; \
	RBIT R7, R11; \
	CLZ R11, R11; \
	SUB $1, R7, R10; \
	AND R10, R7, R7; \
	ADDW R5, R11, R11; \
	STPW (R9, R11), off(R8)

// MARK sets the bytes of to where text has "<" or a double quote.
#define MARK(text, to) \
	VCMEQ V0.B16, text.B16, to.B16; \
	VCMEQ V1.B16, text.B16, V16.B16; \
	VORR V16.B16, to.B16, to.B16; \
	VAND V31.B16, to.B16, to.B16

// SPECIAL sets the bytes of to where text has "&", CR, NUL or a byte above 0x7F.
#define SPECIAL(text, to) \
	VCMEQ V2.B16, text.B16, to.B16; \
	VCMEQ V3.B16, text.B16, V17.B16; \
	VCMEQ V4.B16, text.B16, V18.B16; \
	VCMTST V30.B16, text.B16, V19.B16; \
	VORR V17.B16, to.B16, to.B16; \
	VORR V19.B16, V18.B16, V18.B16; \
	VORR V18.B16, to.B16, to.B16; \
	VAND V31.B16, to.B16, to.B16

// func indexVectors(text *byte, blocks int, base uint32, at *uint32, special *uint64) int
//
// See index_amd64.s.
//
// This code has only run under emulation so far, which proves that it is correct
// but says nothing about its speed.
TEXT ·indexVectors(SB), NOSPLIT, $0-48
	MOVD text+0(FP), R0
	MOVD blocks+8(FP), R1
	MOVWU base+16(FP), R5
	MOVD at+24(FP), R2
	MOVD special+32(FP), R3
	MOVD R2, R4
	VMOVI $0x3C, V0.B16 // <
	VMOVI $0x22, V1.B16 // "
	VMOVI $0x26, V2.B16 // &
	VMOVI $0x0D, V3.B16 // CR
	VMOVI $0x00, V4.B16 // NUL
	VMOVI $0x80, V30.B16
	// The weight of a byte within its eight: 1, 2, 4 and so on up to 128.
	MOVD $0x8040201008040201, R6
	VDUP R6, V31.D2

block:
	VLD1.P 64(R0), [V20.B16, V21.B16, V22.B16, V23.B16]
	MARK(V20, V24)
	MARK(V21, V25)
	MARK(V22, V26)
	MARK(V23, V27)
	// Each addition combines two neighbouring bytes: 64 bytes become 32, then 16.
	VADDP V25.B16, V24.B16, V24.B16
	VADDP V27.B16, V26.B16, V26.B16
	VADDP V26.B16, V24.B16, V24.B16
	SPECIAL(V20, V28)
	SPECIAL(V21, V25)
	SPECIAL(V22, V26)
	SPECIAL(V23, V27)
	VADDP V25.B16, V28.B16, V28.B16
	VADDP V27.B16, V26.B16, V26.B16
	VADDP V26.B16, V28.B16, V28.B16
	// The third addition for both: 8 bytes of marks and 8 bytes of special bits.
	VADDP V28.B16, V24.B16, V24.B16
	VMOV V24.D[0], R7
	VMOV V24.D[1], R9
	MOVD.P R9, 8(R3)
	VCNT V24.B8, V25.B8
	VUADDLV V25.B8, V25
	VMOV V25.H[0], R12

	// Write eight offsets at a time, for the reason given in index_amd64.s.
	MOVD R2, R8
	ADD R12<<2, R2, R2

eight:
	PAIR(0)
	PAIR(8)
	PAIR(16)
	PAIR(24)
	ADD $32, R8
	CBNZ R7, eight

	ADDW $64, R5
	SUB $1, R1
	CBNZ R1, block

	SUB R4, R2
	LSR $2, R2
	MOVD R2, ret+40(FP)
	RET
