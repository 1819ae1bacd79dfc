import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { AnswerLine } from '../../core/terminal/lines.ts'
import { minuteText } from '../time-text.ts'

const at = (time: FeedSeconds): string => `${minuteText(time)} (broker time)`

/** What the collector wants, as a sentence. */
export function sentenceOf(line: AnswerLine): string {
  switch (line.line) {
    case 'symbols':
      return 'The collector wants the catalogue: symbol lines, then catalogue.'
    case 'select':
      return `The feed lists ${line.raw}: add it to the Market Watch.`
    case 'newest': {
      const from = line.time === undefined ? 'the bar that is forming now' : at(line.time)
      return `The collector wants the newest bars of ${line.series.raw} at ${line.series.resolution} from ${from} on.`
    }
    case 'want': {
      const { series, span } = line
      return `The collector wants the bars of ${series.raw} at ${series.resolution} from ${at(span.from)} to before ${at(span.to)}.`
    }
    case 'pause':
      return `The collector wants the next post after ${line.ms} ms at the earliest.`
    case 'standby':
      return 'The collector is on standby: another one leads, and it takes ticks only.'
    case 'say':
      return `The collector says: ${line.text}`
  }
}
