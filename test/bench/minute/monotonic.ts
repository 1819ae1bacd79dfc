/** Milliseconds of the monotonic clock, which all processes of a machine share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6
