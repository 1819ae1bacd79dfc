import { barTimeMax } from '../../core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'

/** QuestDB stores no time before 1970. */
export const timeMin = 0
export const timeMax = barTimeMax

export const microsOf = (seconds: number): string => String(seconds * 1_000_000)
export const secondsOf = (micros: number): FeedSeconds => feedSeconds(micros / 1_000_000)
