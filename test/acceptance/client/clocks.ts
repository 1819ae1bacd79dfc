/** `feed = real_utc - clock_offset_seconds`, in whole seconds: the suite's own arithmetic. */
export const offsets = {
  'BROKERA:ZERO': -10_800,
  'BROKERB:LIVE': 0,
  'BROKERC:TADIL': 347_155_200,
} as const

export const utcNow = (): number => Math.floor(Date.now() / 1000)
export const feedNow = (feed: keyof typeof offsets): number => utcNow() - offsets[feed]

/** The open of the minute that is running on a feed's clock, so many minutes ago. */
export const minutesAgo = (feed: keyof typeof offsets, minutes: number): number =>
  Math.floor(feedNow(feed) / 60) * 60 - minutes * 60
