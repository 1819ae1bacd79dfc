/** `YYYY-MM-DD HH:MM` of seconds since 1970 on any clock. */
export const minuteText = (seconds: number): string =>
  new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ')

/** An instant in UTC, without zero milliseconds, from milliseconds since 1970. */
export const instantText = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')
