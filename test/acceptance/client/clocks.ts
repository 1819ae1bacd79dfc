/** Clock offsets of the feeds in seconds: `feed = real_utc - clock_offset_seconds`. */
export const offsets = {
  'BROKERA:ZERO': -10_800,
  'BROKERB:LIVE': 0,
  'BROKERC:TADIL': 347_155_200,
} as const

export const utcNow = (): number => Math.floor(Date.now() / 1000)
export const feedNow = (feed: keyof typeof offsets): number => utcNow() - offsets[feed]

/** Open time, in seconds on the feed's clock, of the minute that was running `minutes` minutes ago. */
export const minutesAgo = (feed: keyof typeof offsets, minutes: number): number =>
  Math.floor(feedNow(feed) / 60) * 60 - minutes * 60
