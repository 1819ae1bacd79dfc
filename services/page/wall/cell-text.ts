import type { Range } from '../../../clients/typescript/src/types.ts'
import { numberText, timeText } from '../texts/words.ts'
import { answeredMinutes, knownMinutes, knownUntil, minutesOfDay, missingMinutes } from './answered.ts'

const minute = 60
const day = 86_400
const shownGaps = 20

export interface CellText {
  readonly words: string
  /** The minutes that a program asks for; never later than now. */
  readonly from: number
  readonly to: number
}

/** What is known of a day that begins at `begin`. All times are on the clock of the feed. */
export function cellText(ranges: readonly Range[], begin: number, now: number): CellText {
  const until = knownUntil(ranges, now)
  const missing = missingMinutes(ranges, begin, until)
  const [answered = 0] = answeredMinutes(ranges, begin, 1)
  return {
    words: [
      `${numberText(answered)} of ${numberText(minutesOfDay)} minutes were answered.`,
      ...gapWords(missing, answered),
      ...openWords(knownMinutes(begin, until), until),
    ].join(' '),
    from: missing[0]?.from ?? begin,
    to:
      missing.at(-1)?.to ??
      Math.max(begin, Math.min(begin + day, Math.floor(now / minute) * minute) - minute),
  }
}

const clock = (time: number): string => timeText(time).slice(11)

function gapWords(missing: readonly Range[], answered: number): string[] {
  if (missing.length === 0) return answered > 0 ? ['Nothing is missing.'] : []
  const listed = missing
    .slice(0, shownGaps)
    .map(({ from, to }) => (from === to ? clock(from) : `${clock(from)}–${clock(to)}`))
  const more = missing.length > shownGaps ? ` and ${missing.length - shownGaps} more` : ''
  return [`Not answered: ${listed.join(', ')}${more}.`]
}

function openWords(known: number, until: number): string[] {
  if (known === minutesOfDay) return []
  const what = known === 0 ? 'This day is' : `Minutes from ${clock(until)} on are`
  return [`${what} not known yet: the next bar decides.`]
}
