#include "textflag.h"

// PAIR writes base (R5) plus the offsets of the two lowest bits of R7 to off(R8)
// and clears them.
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

// MARK sets the bytes of to that are "<" or a double quote in text.
#define MARK(text, to) \
	VCMEQ V0.B16, text.B16, to.B16; \
	VCMEQ V1.B16, text.B16, V16.B16; \
	VORR V16.B16, to.B16, to.B16; \
	VAND V31.B16, to.B16, to.B16

// ODD sets the bytes of to that are "&", CR, NUL or above 0x7F in text.
#define ODD(text, to) \
	VCMEQ V2.B16, text.B16, to.B16; \
	VCMEQ V3.B16, text.B16, V17.B16; \
	VCMEQ V4.B16, text.B16, V18.B16; \
	VCMTST V30.B16, text.B16, V19.B16; \
	VORR V17.B16, to.B16, to.B16; \
	VORR V19.B16, V18.B16, V18.B16; \
	VORR V18.B16, to.B16, to.B16; \
	VAND V31.B16, to.B16, to.B16

// func indexVectors(text *byte, blocks int, base uint32, at *uint32, odd *uint64) int
//
// What index_amd64.s does, from the same arguments: for each of the blocks of 64
// bytes, writes base plus the offsets of "<" and double quotes to at, and to odd
// the bits of the bytes that are "&", CR, NUL or above 0x7F. Returns the number
// of offsets; up to eight more are written behind them.
//
// So far it ran under emulation only, which shows that it is right and says
// nothing about its speed.
TEXT ·indexVectors(SB), NOSPLIT, $0-48
	MOVD text+0(FP), R0
	MOVD blocks+8(FP), R1
	MOVWU base+16(FP), R5
	MOVD at+24(FP), R2
	MOVD odd+32(FP), R3
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
	// Each addition makes one byte of two neighbours: 64 bytes are 32, then 16.
	VADDP V25.B16, V24.B16, V24.B16
	VADDP V27.B16, V26.B16, V26.B16
	VADDP V26.B16, V24.B16, V24.B16
	ODD(V20, V28)
	ODD(V21, V25)
	ODD(V22, V26)
	ODD(V23, V27)
	VADDP V25.B16, V28.B16, V28.B16
	VADDP V27.B16, V26.B16, V26.B16
	VADDP V26.B16, V28.B16, V28.B16
	// The third addition, for both: 8 bytes of marks and 8 of odd ones.
	VADDP V28.B16, V24.B16, V24.B16
	VMOV V24.D[0], R7
	VMOV V24.D[1], R9
	MOVD.P R9, 8(R3)
	VCNT V24.B8, V25.B8
	VUADDLV V25.B8, V25
	VMOV V25.H[0], R12

	// Eight offsets at a time, there or not: see index_amd64.s.
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
