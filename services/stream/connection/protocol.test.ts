import { isDeepStrictEqual } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effort } from '../../../test/support/effort.ts'
import { minuteBar } from '../../../test/support/fixtures/stream-fixture.ts'
import { feedSeconds, toSeconds, utcMs } from '../../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../core/feeds/compound-key.ts'
import { serverFrames } from '../../frames/server-frames.ts'
import { barEntry, barFrame, barPrefix, barsFrame, barsPrefix, entryPrefix } from '../fan-out/frame.ts'
import { type InvalidMessage, messages, parseMessage } from './protocol.ts'

const symbolsOf = (message: ReturnType<typeof parseMessage>): string[] =>
  'symbols' in message ? [...message.symbols.keys()] : []

const codeOf = (text: string) => {
  const parsed = parseMessage(text)
  return 'code' in parsed ? parsed.code : parsed
}

/** Two short strings may be quoted, each character of them escaped. */
const errorLengthMax = 800

describe('client messages', () => {
  test.each([
    ['{"action":"ping"}', 'ping', []],
    ['{"action":"ping","symbols":7,"type":"x"}', 'ping', []],
    ['{"action":"subscribe","symbols":["A:B:C"],"type":"bar"}', 'subscribe', ['A:B:C']],
    ['{"action":"subscribe","symbols":[]}', 'subscribe', []],
    ['{"action":"unsubscribe","symbols":["x","x"]}', 'unsubscribe', ['x']],
    [' {"symbols":["__proto__"],"action":"subscribe"} ', 'subscribe', ['__proto__']],
  ])('%s is accepted', (text, action, symbols) => {
    const message = parseMessage(text)
    expect(message).toMatchObject({ action })
    expect(symbolsOf(message)).toEqual(symbols)
  })

  test.each([
    ['{"action":"subscribe","symbols":["a","b","b"]}', 3],
    ['{"action":"subscribe","symbols":["a","b"],"since":5}', 4],
    ['{"action":"subscribe","symbols":["a","b"],"since":{"a":5}}', 3],
    ['{"action":"unsubscribe","symbols":["a","b"]}', 2],
    ['{"action":"ping"}', 0],
  ])('%s counts as %i entries', (text, entries) => expect(parseMessage(text)).toMatchObject({ entries }))

  test.each([
    '',
    '{',
    'ping',
    'null',
    '7',
    '"ping"',
    '[{"action":"ping"}]',
    '{}',
    '{"action":null}',
    '{"action":"Ping"}',
    '{"action":"ping "}',
    '{"action":["ping"]}',
    '{"__proto__":{"action":"ping"}}',
    '{"action":"subscribe"}',
    '{"action":"subscribe","symbols":null}',
    '{"action":"subscribe","symbols":"A:B:C"}',
    '{"action":"subscribe","symbols":{"0":"A:B:C","length":1}}',
    '{"action":"subscribe","symbols":["A:B:C",7]}',
    '{"action":"unsubscribe","symbols":[["A:B:C"]]}',
  ])('%s is BAD_MESSAGE', (text) => expect(codeOf(text)).toBe('BAD_MESSAGE'))

  test.each(['"tick"', '""', '"BAR"', '1', 'null', '["bar"]'])('the type %s is UNSUPPORTED_TYPE', (type) =>
    expect(codeOf(`{"action":"subscribe","symbols":["A:B:C"],"type":${type}}`)).toBe('UNSUPPORTED_TYPE'),
  )

  test('the error has the field, its value and what is wanted', () => {
    expect(parseMessage('{"action":"subscribe","symbols":["A:B:C",7]}')).toEqual({
      code: 'BAD_MESSAGE',
      message: 'symbols[1] is number 7; it must be a compound key.',
    })
    expect(parseMessage('{"action":"dance"}')).toMatchObject({
      message: 'action is "dance"; it must be subscribe, unsubscribe or ping.',
    })
  })

  test('an error quotes no part of a key that was sent by mistake', () => {
    const key = `fxd_${'0123456789abcdef'.repeat(2)}`
    for (const text of [key, JSON.stringify(key), JSON.stringify({ action: key }), JSON.stringify([key])]) {
      expect(JSON.stringify(parseMessage(text))).not.toMatch(/fxd_[0-9a-f]/)
    }
  })

  test('no text throws, and a parsed message equals the JSON that was sent', () => {
    const json = fc.json().map((text) => text.replace(/"([a-z])/, '"action'))
    const shaped = fc.record(
      {
        action: fc.oneof(fc.constantFrom('subscribe', 'unsubscribe', 'ping'), fc.jsonValue()),
        symbols: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
        type: fc.oneof(fc.constant('bar'), fc.jsonValue()),
      },
      { requiredKeys: [] },
    )
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      json,
      shaped.map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(any, (text) => {
        const parsed = parseMessage(text)
        if ('code' in parsed) {
          const { code, message } = parsed
          return ['BAD_MESSAGE', 'UNSUPPORTED_TYPE'].includes(code) && message.length < errorLengthMax
        }
        const sent = JSON.parse(text) as { action: string; symbols: string[] }
        const wanted = parsed.action === 'ping' ? [] : [...new Set(sent.symbols)]
        return parsed.action === sent.action && isDeepStrictEqual(symbolsOf(parsed), wanted)
      }),
      { numRuns: Math.ceil(2_000 * effort) },
    )
  }, 60_000)
})

describe('a list', () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => `s${n}`)
  const times = (count: number) => Object.fromEntries(names(count).map((name) => [name, 1]))

  test.each(['subscribe', 'unsubscribe'])(
    'of 5,000 symbols is accepted by %s, a longer one is refused',
    (action) => {
      expect(parseMessage(JSON.stringify({ action, symbols: names(5_000) }))).toMatchObject({
        entries: 5_000,
      })
      expect(parseMessage(JSON.stringify({ action, symbols: names(5_001) }))).toEqual({
        code: 'BAD_MESSAGE',
        message: 'symbols is a list of 5001; it must be an array of at most 5000 compound keys.',
      })
    },
  )

  test('that is too long is refused for its length before its entries are checked', () => {
    const symbols = Array.from({ length: 5_001 }, () => 7)
    const message = parseMessage(JSON.stringify({ action: 'subscribe', symbols }))
    expect((message as InvalidMessage).message).toContain('a list of 5001')
  })

  test('of 5,000 times is accepted, a longer one is refused', () => {
    const ask = (count: number) =>
      parseMessage(JSON.stringify({ action: 'subscribe', symbols: names(5_000), since: times(count) }))
    expect(ask(5_000)).toMatchObject({ entries: 10_000 })
    const { code, message } = ask(5_001) as InvalidMessage
    expect(code).toBe('BAD_MESSAGE')
    expect(message).toContain('since is a mapping; it must be an object of at most 5000 symbols')
  })
})

describe('server messages', () => {
  const euro = compoundKey(feedKey('BROKERA', 'ZERO'), 'EURUSD')

  test('fields are in the order of the specification', () => {
    expect([
      messages.connected('5e55', toSeconds(utcMs(1_000_000)), {
        maxSymbols: 200,
        idleTimeoutSeconds: 60,
        maxMessageBytes: 65_536,
      }),
      messages.subscribed(['a'], ['b']),
      messages.unsubscribed(['a']),
      messages.unsubscribed(['a'], 'SYMBOL_NOT_PERMITTED'),
      messages.pong(toSeconds(utcMs(1_000_000))),
      messages.error('KEY_EXPIRED', 'past'),
      messages.gap([{ symbol: euro, after: feedSeconds(60) }, { symbol: euro }]),
    ]).toEqual([
      '{"type":"connected","session_id":"5e55","server_time":1000,"limits":{"max_symbols":200,"idle_timeout_seconds":60,"max_message_bytes":65536}}',
      '{"type":"subscribed","symbols":["a"],"rejected":["b"]}',
      '{"type":"unsubscribed","symbols":["a"]}',
      '{"type":"unsubscribed","symbols":["a"],"reason":"SYMBOL_NOT_PERMITTED"}',
      '{"type":"pong","t":1000}',
      '{"type":"error","code":"KEY_EXPIRED","message":"past"}',
      '{"type":"error","code":"GAP","message":"Bars may be missing on this connection; read them from /v1/history.",' +
        '"gaps":[{"symbol":"BROKERA:ZERO:EURUSD","after":60},{"symbol":"BROKERA:ZERO:EURUSD"}]}',
    ])
  })

  test('every frame matches its schema', () => {
    const symbol = euro as string
    const since = new Map([[symbol, feedSeconds(60)]])
    const frames: [keyof typeof serverFrames, string][] = [
      [
        'connected',
        messages.connected('5e55', toSeconds(utcMs(1_000)), {
          maxSymbols: 1,
          idleTimeoutSeconds: 1,
          maxMessageBytes: 1,
        }),
      ],
      ['subscribed', messages.subscribed([symbol], [])],
      ['subscribed', messages.subscribed([symbol], [], since)],
      ['unsubscribed', messages.unsubscribed([symbol])],
      ['unsubscribed', messages.unsubscribed([symbol], 'SYMBOL_NOT_PERMITTED')],
      ['minute', messages.minute(feedKey('BROKERA', 'ZERO'), feedSeconds(60))],
      [
        'feed',
        messages.feed(feedKey('BROKERA', 'ZERO'), {
          status: 'live',
          changedAt: toSeconds(utcMs(1_000)),
          liveness_source: 'heartbeat',
        }),
      ],
      [
        'revised',
        messages.revised({
          series: { feed: feedKey('BROKERA', 'ZERO'), symbol: euro, resolution: '1D' },
          from: feedSeconds(60),
          to: feedSeconds(120),
        }),
      ],
      ['pong', messages.pong(toSeconds(utcMs(1_000)))],
      ['error', messages.error('UNSUPPORTED_TYPE', 'x')],
      ['gap', messages.gap([{ symbol: euro, after: feedSeconds(60), until: feedSeconds(120) }])],
      ['bar', barFrame(barPrefix(euro), { ...minuteBar(1) }).replace(/^[^{]*/, '')],
      [
        'bars',
        barsFrame(
          barsPrefix(feedKey('BROKERA', 'ZERO'), feedSeconds(60)),
          barEntry(entryPrefix(euro), minuteBar(1)),
        ).replace(/^[^{]*/, ''),
      ],
    ]
    const ajv = new Ajv2020()
    expect(new Set(frames.map(([name]) => name))).toEqual(new Set(Object.keys(serverFrames)))
    for (const [name, text] of frames)
      expect(ajv.validate(serverFrames[name], JSON.parse(text)), text).toBe(true)
  })

  test('an answer to subscribe is at most as large as the message plus a constant', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (symbols) => {
        const question = Buffer.byteLength(JSON.stringify({ action: 'subscribe', symbols }))
        const answers = [messages.subscribed([], symbols), messages.unsubscribed(symbols)]
        for (const answer of answers) expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(question + 20)
      }),
    )
  })
})

describe('`since`', () => {
  const symbol = 'BROKERA:ZERO:SYM0'
  const ask = (since: string) =>
    parseMessage(`{"action":"subscribe","symbols":["${symbol}"],"since":${since}}`)

  test.each([
    ['"yesterday"', 'since is "yesterday"'],
    ['-1', 'since is number -1'],
    ['1767600000000', 'since is number 1767600000000'],
    ['1.5', 'since is number 1.5'],
    ['{"BROKERA:ZERO:NOPE":1}', 'which is not in symbols'],
    ['{"BROKERA:ZERO:SYM0":"1"}', 'since of "BROKERA:ZERO:SYM0'],
    ['[1]', 'since is a list of 1'],
    ['null', 'since is null'],
  ])('since %s is refused with a reason', (since, words) => {
    expect(ask(since)).toMatchObject({ code: 'BAD_MESSAGE' })
    expect((ask(since) as { message: string }).message).toContain(words)
  })

  test('one time applies to every symbol; an object has a time for each', () => {
    const symbols = new Map([[symbol, 1_767_600_000]])
    expect(ask('1767600000')).toMatchObject({ symbols, resumes: true })
    expect(ask(`{"${symbol}":1767600000}`)).toMatchObject({ symbols, resumes: true })
    const inherited = '{"action":"subscribe","symbols":["__proto__","constructor"],"since":'
    expect(parseMessage(`${inherited}{}}`)).toMatchObject({
      symbols: new Map([
        ['__proto__', undefined],
        ['constructor', undefined],
      ]),
    })
    expect(parseMessage(`${inherited}{"__proto__":5}}`)).toMatchObject({
      symbols: new Map([
        ['__proto__', 5],
        ['constructor', undefined],
      ]),
    })
    expect(ask('{}')).toMatchObject({ symbols: new Map([[symbol, undefined]]), resumes: true })
  })

  test.each(['1', '"yes"', 'null'])('markers %s is refused', (markers) => {
    expect(codeOf(`{"action":"subscribe","symbols":[],"markers":${markers}}`)).toBe('BAD_MESSAGE')
  })
})
