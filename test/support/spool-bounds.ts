const mib = 1024 * 1024
const hourMs = 3_600_000

/** Of a spool in tests that are about something else: what `FXD_SPOOL_MIB` and `FXD_SPOOL_HOURS` give by default. */
export const spoolBounds = { bytesMax: 256 * mib, ageMaxMs: 24 * hourMs }
