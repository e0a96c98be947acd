package site

// firstBuffer is the least size of a read buffer that grows.
const firstBuffer = 256 << 10
