package docroot

// firstBuffer is the least size of a read buffer that grows.
const FirstBuffer = 256 << 10
