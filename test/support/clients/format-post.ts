import { fieldOf } from '../../../services/core/terminal/fields.ts'
import { headOf } from '../../../services/core/terminal/head.ts'
import type {
  TerminalBar,
  TerminalLine,
  TerminalPost,
  TerminalSeries,
} from '../../../services/core/terminal/lines.ts'

/** The text of a post, as a program in a terminal writes it. */
export const formatPost = (post: TerminalPost): string => headOf(post) + post.lines.map(textOf).join('')

const line = (...fields: readonly (string | number)[]): string =>
  `${fields.map((field) => fieldOf(String(field))).join('\t')}\n`
const series = ({ raw, resolution }: TerminalSeries) => [raw, resolution] as const

function textOf(each: TerminalLine): string {
  switch (each.line) {
    case 'hello': {
      const { program, version, kind, build, server, company, account, maxBars, newestTick, pcUtc, role } =
        each.hello
      const facts = [program, version, kind, build, server, company, account, maxBars] as const
      return line('hello', ...facts, newestTick ?? 0, pcUtc, role)
    }
    case 'symbol': {
      const { raw, digits, path, description } = each.symbol
      return line('symbol', raw, digits, path, description)
    }
    case 'catalogue':
      return line('catalogue', each.count)
    case 'bars': {
      const last = each.bars.length - 1
      const bars = each.bars.map((bar, at) => barText(bar, each.lastIsOpen && at === last))
      return line('bars', ...series(each.series), each.bars.length) + bars.join('')
    }
    case 'complete':
      return line('complete', ...series(each.series), each.span.from, each.span.to)
    case 'loading':
    case 'late':
      return line(each.line, ...series(each.series))
    case 'beyond':
      return line('beyond', ...series(each.series), each.oldest)
    case 'tick':
      return line('tick', each.time, each.raw)
    case 'connected':
      return line('connected', each.is ? 1 : 0)
    case 'watched':
      return line('watched', each.resolution, each.to)
    case 'memory':
      return line('memory', each.usedMb, each.totalMb)
    case 'error':
      return line('error', each.number, each.function, each.raw)
  }
}

const barText = ({ time, open, high, low, close, volume }: TerminalBar, isOpen: boolean): string =>
  line(time, open, high, low, close, volume, ...(isOpen ? ['open'] : []))
