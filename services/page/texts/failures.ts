import { nowSeconds } from '../browser.ts'
import { spanText } from './words.ts'

interface Refusal {
  readonly code: string
  readonly message: string
  readonly retryAfter?: number | undefined
}

/** Codes that only another key helps against, with what a person can do. */
const keySentences: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'A key is needed. Enter one.',
  KEY_INVALID: 'This key is unknown. Check that you copied all of it.',
  KEY_INACTIVE: 'This key was revoked. Ask for another one.',
  KEY_EXPIRED: 'This key has expired. Ask for another one.',
  IP_NOT_ALLOWED: 'This key may not be used from your address.',
}

const sentences: Readonly<Record<string, string>> = {
  SYMBOL_NOT_FOUND: 'There is no such symbol. Choose one from the list.',
  SYMBOL_NOT_PERMITTED: 'Your key has no access to this feed.',
  SYMBOL_REJECTED: 'The stream refuses this symbol: your key has no access, or follows too many symbols.',
}

export const isOfKey = (code: string): boolean => code in keySentences

/** A failure in a sentence for a person, and what happens next. */
export function failureText({ code, message, retryAfter }: Refusal): string {
  const known = keySentences[code] ?? sentences[code]
  if (known !== undefined) return known
  const next = `The page asks again ${retryAfter === undefined ? 'by itself' : `in ${spanText(retryAfter)}`}.`
  if (code === 'UNAVAILABLE') return `The service does not answer. ${next}`
  if (code === 'RATE_LIMIT_EXCEEDED') {
    const [, limit, unit] = /limit of (\d+) requests per (minute|day)/.exec(message) ?? []
    const why = limit
      ? `This key may make ${limit} requests a ${unit}`
      : 'Your key has used up its requests for now'
    return retryAfter === undefined
      ? `${why}. ${next}`
      : `${why}; the page continues at ${clockIn(retryAfter)}.`
  }
  if (code === 'SERVER_ERROR') return `The service has a fault. ${next}`
  return message
}

/** What the clock of the browser will show: `16:23:40`. */
const clockIn = (seconds: number): string =>
  new Date((nowSeconds() + seconds) * 1_000).toTimeString().slice(0, 8)

export const slowText = 'The service takes longer than usual. The page is still waiting.'
