import type { Range } from '../../../clients/typescript/src/types.ts'
import { numberText, timeText } from '../texts/words.ts'
import { answeredMinutes, knownMinutes, knownUntil, minutesOfDay, missingMinutes } from './answered.ts'

const minute = 60
const day = 86_400
const shownGaps = 20

interface CellText {
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
  const known = knownMinutes(begin, until)
  return {
    words: isBefore(ranges, begin)
      ? beforeWords(ranges)
      : [countWords(answered, known), ...gapWords(missing, answered), ...openWords(known, until)].join(' '),
    from: missing[0]?.from ?? begin,
    to:
      missing.at(-1)?.to ??
      Math.max(begin, Math.min(begin + day, Math.floor(now / minute) * minute) - minute),
  }
}

const clock = (time: number): string => timeText(time).slice(11)

function countWords(answered: number, known: number): string {
  if (known === 0) return 'Not known yet: 0 minutes so far. The next bar decides.'
  return known < minutesOfDay
    ? `${numberText(answered)} minutes were answered so far.`
    : `${numberText(answered)} of ${numberText(minutesOfDay)} minutes were answered.`
}

function gapWords(missing: readonly Range[], answered: number): string[] {
  if (missing.length === 0) return answered > 0 ? ['Nothing is missing.'] : []
  if (answered === 0) return []
  const listed = missing
    .slice(0, shownGaps)
    .map(({ from, to }) => (from === to ? clock(from) : `${clock(from)}–${clock(to)}`))
  const more = missing.length > shownGaps ? ` and ${missing.length - shownGaps} more` : ''
  return [`Not answered: ${listed.join(', ')}${more}.`]
}

/** Whether a day ends before the first answer. */
const isBefore = ([first]: readonly Range[], begin: number): boolean => !first || first.from >= begin + day

const beforeWords = ([first]: readonly Range[]): string =>
  first
    ? `This day is before the first minute, ${timeText(first.from)}.`
    : 'No minute of this symbol was answered yet.'

const openWords = (known: number, until: number): string[] =>
  known === 0 || known === minutesOfDay
    ? []
    : [`Minutes from ${clock(until)} on are not known yet: the next bar decides.`]
