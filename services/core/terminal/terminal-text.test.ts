import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatPost } from '../../../test/support/clients/format-post.ts'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { storedResolutions } from '../feeds/resolution.ts'
import { formatAnswer, formatRefusal, parseAnswer, type TerminalAnswer } from './answer.ts'
import { parseHead } from './head.ts'
import type { AnswerLine, TerminalBar, TerminalLine, TerminalPost } from './lines.ts'
import { parsePost } from './parse-post.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 40 }).map((each) => each.replace(/[\t\r\n]/g, ' '))
const word = text.map((each) => `x${each}`)
const seconds = fc.integer({ min: 1, max: 4_000_000_000 }).map(feedSeconds)
const whole = fc.nat({ max: 1_000_000 })
const series = fc.record({ raw: word, resolution: fc.constantFrom(...storedResolutions) })
const span = fc
  .tuple(seconds, seconds)
  .map(([a, b]) => ({ from: feedSeconds(Math.min(a, b)), to: feedSeconds(Math.max(a, b)) }))
const price = fc
  .tuple(fc.nat({ max: 99_999_999 }), fc.stringMatching(/^(\.\d{1,8})?$/))
  .map(([units, decimals]) => `${units}${decimals}`)
const bar: fc.Arbitrary<TerminalBar> = fc.record({
  time: seconds,
  open: price,
  high: price,
  low: price,
  close: price,
  volume: whole,
})
const bars = fc
  .uniqueArray(bar, { selector: ({ time }) => time, maxLength: 20 })
  .map((each) => each.sort((a, b) => a.time - b.time))

const line: fc.Arbitrary<TerminalLine> = fc.oneof(
  fc.record({
    line: fc.constant('symbol' as const),
    symbol: fc.record({ raw: word, digits: fc.nat({ max: 10 }), path: text, description: text }),
  }),
  fc.record({ line: fc.constant('catalogue' as const), count: whole }),
  fc.tuple(series, bars, fc.boolean()).map(([of, list, open]) => ({
    line: 'bars' as const,
    series: of,
    bars: list,
    lastIsOpen: open && list.length > 0,
  })),
  fc.record({ line: fc.constant('complete' as const), series, span }),
  fc.record({ line: fc.constantFrom('loading' as const, 'late' as const), series }),
  fc.record({ line: fc.constant('beyond' as const), series, oldest: seconds }),
  fc.record({ line: fc.constant('tick' as const), time: seconds, raw: word }),
  fc.record({ line: fc.constant('connected' as const), is: fc.boolean() }),
  fc.record({
    line: fc.constant('watched' as const),
    resolution: fc.constantFrom(...storedResolutions),
    to: seconds,
  }),
  fc.record({ line: fc.constant('memory' as const), usedMb: whole, totalMb: whole }),
  fc.record({ line: fc.constant('error' as const), number: whole, function: word, raw: text }),
)

const hello: fc.Arbitrary<TerminalPost> = fc
  .record({
    program: word,
    version: word,
    kind: fc.constantFrom('MT4' as const, 'MT5' as const),
    build: text,
    server: word,
    company: text,
    account: fc.stringMatching(/^[0-9a-f]{16,64}$/),
    maxBars: whole,
    newestTick: fc.option(seconds, { nil: undefined }),
    pcUtc: seconds,
    role: fc.constantFrom('Both' as const, 'Live' as const, 'History' as const),
  })
  .map((each) => ({ session: 0, sequence: 0, lines: [{ line: 'hello', hello: each }] }))

const post: fc.Arbitrary<TerminalPost> = fc.oneof(
  hello,
  fc.record({
    session: fc.integer({ min: 1, max: 1_000_000_000 }),
    sequence: fc.integer({ min: 1, max: 1_000_000_000 }),
    lines: fc.array(line, { maxLength: 10 }),
  }),
)

const answerLine: fc.Arbitrary<AnswerLine> = fc.oneof(
  fc.constantFrom<AnswerLine>({ line: 'symbols' }, { line: 'standby' }),
  fc.record({ line: fc.constant('select' as const), raw: word }),
  fc.record({ line: fc.constant('newest' as const), series, time: fc.option(seconds, { nil: undefined }) }),
  fc.record({ line: fc.constant('want' as const), series, span }),
  fc.record({ line: fc.constant('pause' as const), ms: whole }),
  fc.record({ line: fc.constant('say' as const), text }),
)
const answer: fc.Arbitrary<TerminalAnswer> = fc.record({
  session: whole,
  sequence: whole,
  lines: fc.array(answerLine, { maxLength: 10 }),
})

const head = (...lines: readonly string[]): string => ['fxd\t1\t7\t3', ...lines, ''].join('\n')
const sentence = (of: string): string => {
  const parsed = parsePost(of)
  if ('code' in parsed) return parsed.sentence
  throw new Error('it was taken')
}

describe('a post that was formatted', () => {
  test('parses to itself', () => {
    fc.assert(
      fc.property(post, (each) => {
        expect(parsePost(formatPost(each))).toEqual(each)
      }),
    )
  })

  test('parses to itself when its lines end with CR LF', () => {
    fc.assert(
      fc.property(post, (each) => {
        expect(parsePost(formatPost(each).replaceAll('\n', '\r\n'))).toEqual(each)
      }),
    )
  })

  test('with one character changed is a post or a sentence, and never throws', () => {
    fc.assert(
      fc.property(post, fc.nat(), fc.string({ maxLength: 3 }), (each, at, put) => {
        const formatted = formatPost(each)
        const place = at % formatted.length
        const parsed = parsePost(formatted.slice(0, place) + put + formatted.slice(place + 1))
        if ('code' in parsed) expect(parsed.sentence).toMatch(/^(line \d+: |The protocol version).*\.$/s)
      }),
    )
  })
})

test('an answer that was formatted parses to itself', () => {
  fc.assert(
    fc.property(answer, (each) => {
      expect(parseAnswer(formatAnswer(each))).toEqual(each)
    }),
  )
})

test('noise is a fault of a post, of an answer and of a head, and never throws', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const noise = Buffer.from(bytes).toString('latin1')
      expect(parsePost(noise)).toHaveProperty('sentence')
      expect(parseAnswer(noise)).toHaveProperty('sentence')
      expect(parseHead(noise)).toHaveProperty('sentence')
    }),
  )
})

test('the prices of a bar stay the text that the terminal printed', () => {
  const parsed = parsePost(
    head('bars\tEURUSD\t1\t1', '1700000040\t1.10\t0001.1000\t-0.5\t1.123456789\t7\topen'),
  )
  expect(parsed).toMatchObject({
    lines: [
      {
        lastIsOpen: true,
        bars: [{ open: '1.10', high: '0001.1000', low: '-0.5', close: '1.123456789', volume: 7 }],
      },
    ],
  })
})

const bar1 = '1700000040\t1\t1\t1\t1\t7'
const bar2 = '1700000100\t1\t1\t1\t1\t7'
const long = 'x'.repeat(513)

test.each([
  [
    'an empty text',
    '',
    'line 1: begins with "", wanted: fxd, version 1, session, sequence, separated by tabs',
  ],
  ['a page of HTML', '<html>\n', 'line 1: begins with "<html>", wanted: fxd'],
  ['a last line without an end', 'fxd\t1\t7\t3', 'line 1: it does not end with a line break'],
  [
    'a head without a sequence',
    'fxd\t1\t7\n',
    'line 1: got 3 fields, wanted 4: fxd VERSION SESSION SEQUENCE',
  ],
  [
    'a session that is no number',
    'fxd\t1\t-7\t3\n',
    'line 1: the field SESSION is "-7", wanted a whole number from 0',
  ],
  ['an empty line', head(''), 'line 2: there is no line "", wanted one of hello symbol'],
  ['a misspelt line', head('bar\tEURUSD\t1\t1', bar1), 'line 2: there is no line "bar" (did you mean bars?)'],
  ['a name of JavaScript', head('constructor'), 'line 2: there is no line "constructor"'],
  ['a missing field', head('tick\t1700000000'), 'line 2: got 2 fields, wanted 3: tick TIME RAW'],
  [
    'a time in words',
    head('tick\tnow\tEURUSD'),
    'line 2: the field TIME is "now", wanted a whole number from 0',
  ],
  [
    'a symbol without a name',
    head('tick\t1\t'),
    'line 2: the field RAW is "", wanted a text that is not empty',
  ],
  [
    '30 minutes',
    head('loading\tEURUSD\t30'),
    'line 2: the field RESOLUTION is "30", wanted one of 1 5 10 15 60',
  ],
  [
    'a span that ends first',
    head('complete\tX\t1\t60\t0'),
    'line 2: the field TO is "0", wanted 60 (FROM) or later',
  ],
  [
    'a price with an exponent',
    head('bars\tX\t1\t1', '60\t1e5\t1\t1\t1\t7'),
    'line 3: the field OPEN is "1e5", wanted a price',
  ],
  [
    'a price with a comma',
    head('bars\tX\t1\t1', '60\t1\t1,5\t1\t1\t7'),
    'line 3: the field HIGH is "1,5", wanted a price',
  ],
  [
    'a bar without a volume',
    head('bars\tX\t1\t1', '60\t1\t1\t1\t1'),
    'line 3: got 5 fields, wanted 6: TIME OPEN HIGH LOW CLOSE VOLUME',
  ],
  [
    'another mark than open',
    head('bars\tX\t1\t1', '60\t1\t1\t1\t1\t7\tnew'),
    'line 3: the field STATE is "new", wanted one of open',
  ],
  [
    'an open bar before the last',
    head('bars\tX\t1\t2', `${bar1}\topen`, bar2),
    'line 3: only the last bar of a group may be open',
  ],
  [
    'descending times',
    head('bars\tX\t1\t2', bar2, bar1),
    'line 4: the field TIME is "1700000040", wanted a time after 1700000100',
  ],
  [
    'a repeated time',
    head('bars\tX\t1\t2', bar1, bar1),
    'line 4: the field TIME is "1700000040", wanted a time after 1700000040',
  ],
  [
    'fewer bars than announced',
    head('bars\tX\t1\t3', bar1),
    'line 2: bars says 3 bars, and the post ends after 1',
  ],
  ['a field of 513 characters', head(`tick\t1\t${long}`), 'line 2: the field RAW is "xxx'],
  ['a line break inside', head('tick\t1\tEUR\rUSD'), 'line 2: it has a line break inside'],
  [
    'a hello with a session',
    head('hello\tFxdBridge\t1\tMT5\t1\tS\tC\t0123456789abcdef\t0\t0\t1\tBoth'),
    'line 1: a post with hello has session 0',
  ],
  [
    'session 0 without a hello',
    'fxd\t1\t0\t0\ntick\t1\tX\n',
    'line 2: a post of session 0 and sequence 0 has a hello line',
  ],
  [
    'a terminal that is not logged in',
    'fxd\t1\t0\t0\nhello\tFxdBridge\t1\tMT5\t1\t\tC\t0123456789abcdef\t0\t0\t1\tBoth\n',
    'line 2: the field SERVER is "", wanted the server of the account: log in',
  ],
  [
    'a login in place of its digest',
    'fxd\t1\t0\t0\nhello\tFxdBridge\t1\tMT5\t1\tS\tC\t5012345\t0\t0\t1\tBoth\n',
    'line 2: the field ACCOUNT is "5012345", wanted a digest of 16 to 64 hexadecimal digits',
  ],
])('%s is refused with its line, its field and what was wanted', (_what, given, expected) => {
  expect(sentence(given)).toContain(expected)
})

test('another version of the protocol is refused with the versions that are spoken', () => {
  expect(parsePost('fxd\t2\t7\t3\nanything')).toEqual({
    code: 'OTHER_VERSION',
    sentence: 'The protocol version is "2"; this collector speaks 1.',
  })
})

test('a post of 5,001 bars is TOO_LARGE before the bars are read', () => {
  const group = (count: number): string => `bars\tX\t1\t${count}\n`
  expect(parsePost(head(group(5_001)))).toMatchObject({
    code: 'TOO_LARGE',
    sentence: 'line 2: the post has 5001 bars, at most 5000 are taken; post less.',
  })
})

test('a token in a field is not repeated in the sentence', () => {
  expect(sentence(head(`tick\tfxt_${'0'.repeat(32)}\tX`))).toContain('"fxt_…"')
})

test('a refusal is one line, whatever its sentence has', () => {
  expect(formatRefusal('BUSY', 'a\tb\nc')).toBe('error\tBUSY\ta b c\n')
})
