import { digitsMax } from '../feeds/symbol.ts'
import { Fields, LineFault, type TextLine } from './fields.ts'
import { type Forms, readLine, readSeries, readSpan } from './forms.ts'
import { orFault, type PostFault, postBarsMax, readHead } from './head.ts'
import type { TerminalBar, TerminalLine, TerminalPost, TerminalSeries } from './lines.ts'
import { TextLines } from './text-lines.ts'

const megabytesMax = 1_000_000_000

/** All lines but `bars`, which has bar lines behind it. Fields are read in the order of their form. */
const forms: Forms<Exclude<TerminalLine, { line: 'bars' }>> = {
  hello: {
    form: 'hello PROGRAM VERSION KIND BUILD SERVER COMPANY ACCOUNT MAXBARS NEWESTTICK PCUTC ROLE',
    read: (fields) => ({
      line: 'hello',
      hello: {
        program: fields.word(),
        version: fields.word(),
        kind: fields.oneOf(['MT4', 'MT5']),
        build: fields.text(),
        server: serverOf(fields),
        company: fields.text(),
        account: fields.matching(/^[0-9a-fA-F]{16,64}$/, 'a digest of 16 to 64 hexadecimal digits'),
        maxBars: fields.whole(),
        newestTick: fields.secondsOrNone(),
        pcUtc: fields.seconds(),
        role: fields.oneOf(['Both', 'Live', 'History']),
      },
    }),
  },
  symbol: {
    form: 'symbol RAW DIGITS PATH DESCRIPTION',
    read: (fields) => ({
      line: 'symbol',
      symbol: {
        raw: fields.word(),
        digits: fields.whole(digitsMax),
        path: fields.text(),
        description: fields.text(),
      },
    }),
  },
  catalogue: { form: 'catalogue COUNT', read: (fields) => ({ line: 'catalogue', count: fields.whole() }) },
  complete: {
    form: 'complete RAW RESOLUTION FROM TO',
    read: (fields) => ({ line: 'complete', series: readSeries(fields), span: readSpan(fields) }),
  },
  loading: {
    form: 'loading RAW RESOLUTION',
    read: (fields) => ({ line: 'loading', series: readSeries(fields) }),
  },
  late: {
    form: 'late RAW RESOLUTION',
    read: (fields) => ({ line: 'late', series: readSeries(fields) }),
  },
  beyond: {
    form: 'beyond RAW RESOLUTION OLDEST',
    read: (fields) => ({ line: 'beyond', series: readSeries(fields), oldest: fields.seconds() }),
  },
  tick: {
    form: 'tick TIME RAW',
    read: (fields) => ({ line: 'tick', time: fields.seconds(), raw: fields.word() }),
  },
  connected: {
    form: 'connected STATE',
    read: (fields) => ({ line: 'connected', is: fields.oneOf(['0', '1']) === '1' }),
  },
  watched: {
    form: 'watched RESOLUTION TO',
    read: (fields) => ({ line: 'watched', resolution: fields.resolution(), to: fields.seconds() }),
  },
  memory: {
    form: 'memory USED TOTAL',
    read: (fields) => ({
      line: 'memory',
      usedMb: fields.whole(megabytesMax),
      totalMb: fields.whole(megabytesMax),
    }),
  },
  error: {
    form: 'error NUMBER FUNCTION RAW',
    read: (fields) => ({
      line: 'error',
      number: fields.whole(),
      function: fields.word(),
      raw: fields.text(),
    }),
  },
}

/** A post, or its first fault. Never throws, whatever the text is. */
export function parsePost(text: string): TerminalPost | PostFault {
  return orFault(() => {
    const lines = new TextLines(text)
    const head = readHead(lines)
    if ('code' in head) return head
    const read: TerminalLine[] = []
    let barCount = 0
    for (let line = lines.next(); line; line = lines.next()) {
      if (line.fields[0] !== 'bars') {
        read.push(readLine(forms, line, ['bars']))
        continue
      }
      const { series, count } = readGroup(line)
      barCount += count
      if (barCount > postBarsMax)
        return {
          code: 'TOO_LARGE',
          sentence: `line ${line.number}: the post has ${barCount} bars, at most ${postBarsMax} are taken; post less.`,
        }
      read.push(readBars(series, count, line.number, lines))
    }
    refuseMisplacedHello(head.session === 0 && head.sequence === 0, read)
    return { ...head, lines: read }
  })
}

function readGroup(line: TextLine) {
  const fields = new Fields(line, 'bars RAW RESOLUTION COUNT', 1)
  return { series: readSeries(fields), count: fields.whole() }
}

function readBars(series: TerminalSeries, count: number, begun: number, lines: TextLines): TerminalLine {
  const bars: TerminalBar[] = []
  let lastIsOpen = false
  for (let left = count; left > 0; left--) {
    const line = lines.next()
    if (line === undefined)
      throw new LineFault(`line ${begun}: bars says ${count} bars, and the post ends after ${bars.length}`)
    const { bar, isOpen } = readBar(line, bars.at(-1)?.time)
    if (isOpen && left > 1)
      throw new LineFault(`line ${line.number}: only the last bar of a group may be open`)
    bars.push(bar)
    lastIsOpen = isOpen
  }
  return { line: 'bars', series, bars, lastIsOpen }
}

function readBar(line: TextLine, before: number | undefined) {
  const isOpen = line.fields.length === 7
  const fields = new Fields(line, `TIME OPEN HIGH LOW CLOSE VOLUME${isOpen ? ' STATE' : ''}`, 0)
  const time = fields.seconds()
  if (before !== undefined && time <= before)
    throw fields.fault(`a time after ${before}, that of the bar before`)
  const bar: TerminalBar = {
    time,
    open: fields.price(),
    high: fields.price(),
    low: fields.price(),
    close: fields.price(),
    volume: fields.whole(),
  }
  if (isOpen) fields.oneOf(['open'])
  return { bar, isOpen }
}

/** The programs send no server while the terminal has no account: that must not become the pinned terminal. */
function serverOf(fields: Fields): string {
  const server = fields.text()
  if (server !== '') return server
  throw fields.fault('the server of the account: log in to an account in the terminal')
}

function refuseMisplacedHello(isFirst: boolean, lines: readonly TerminalLine[]): void {
  const hasHello = lines.some(({ line }) => line === 'hello')
  if (isFirst && !hasHello) throw new LineFault('line 2: a post of session 0 and sequence 0 has a hello line')
  if (hasHello && !isFirst) throw new LineFault('line 1: a post with hello has session 0 and sequence 0')
  if (hasHello && lines.length > 1) throw new LineFault('line 3: a post with hello has no other line')
}
