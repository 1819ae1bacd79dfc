import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effort } from '../../test/support/effort.ts'
import { compoundKey, feedKey } from '../core/compound-key.ts'
import { feedSeconds, utcSeconds } from '../core/feed-clock.ts'
import { messages, parseMessage } from './protocol.ts'

const codeOf = (text: string) => {
  const parsed = parseMessage(text)
  return 'code' in parsed ? parsed.code : parsed
}

describe('what a client says', () => {
  test.each([
    ['{"action":"ping"}', { action: 'ping' }],
    ['{"action":"ping","symbols":7,"type":"x"}', { action: 'ping' }],
    ['{"action":"subscribe","symbols":["A:B:C"],"type":"bar"}', { action: 'subscribe', symbols: ['A:B:C'] }],
    ['{"action":"subscribe","symbols":[]}', { action: 'subscribe', symbols: [] }],
    ['{"action":"unsubscribe","symbols":["x","x"]}', { action: 'unsubscribe', symbols: ['x', 'x'] }],
    [' {"symbols":["__proto__"],"action":"subscribe"} ', { action: 'subscribe', symbols: ['__proto__'] }],
  ])('%s is understood', (text, expected) => expect(parseMessage(text)).toEqual(expected))

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

  test('the error names what was wrong, what it got and what it wants', () => {
    expect(parseMessage('{"action":"subscribe","symbols":["A:B:C",7]}')).toEqual({
      code: 'BAD_MESSAGE',
      message: 'symbols[1] is 7; it wants a compound key.',
    })
    expect(parseMessage('{"action":"dance"}')).toMatchObject({
      message: 'action is "dance"; it wants subscribe, unsubscribe or ping.',
    })
  })

  test('a key sent by mistake is not repeated in an error, nor any part of it', () => {
    const key = `fxd_${'0123456789abcdef'.repeat(2)}`
    for (const text of [key, JSON.stringify(key), JSON.stringify({ action: key }), JSON.stringify([key])]) {
      expect(JSON.stringify(parseMessage(text))).not.toMatch(/fxd_[0-9a-f]/)
    }
  })

  test('no text throws, and what is understood is only what was said', () => {
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
          expect(['BAD_MESSAGE', 'UNSUPPORTED_TYPE']).toContain(parsed.code)
          expect(parsed.message.length).toBeLessThan(120)
        } else {
          expect(JSON.parse(text)).toMatchObject(parsed)
        }
      }),
      { numRuns: Math.ceil(2_000 * effort) },
    )
  })
})

describe('what the server says', () => {
  const euro = compoundKey(feedKey('BROKERA', 'ZERO'), 'EURUSD')

  test('fields come in the order of the specification', () => {
    expect([
      messages.connected('5e55', utcSeconds(1_000), {
        maxSymbols: 200,
        idleTimeoutSeconds: 60,
        maxMessageBytes: 65_536,
      }),
      messages.subscribed(['a'], ['b']),
      messages.unsubscribed(['a']),
      messages.unsubscribed(['a'], 'SYMBOL_NOT_PERMITTED'),
      messages.pong(utcSeconds(1_000)),
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

  test('an answer to subscribe is never larger than the question plus a constant', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (symbols) => {
        const question = Buffer.byteLength(JSON.stringify({ action: 'subscribe', symbols }))
        const answers = [messages.subscribed([], symbols), messages.unsubscribed(symbols)]
        for (const answer of answers) expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(question + 20)
      }),
    )
  })
})

describe('what a client missed', () => {
  const symbol = 'BROKERA:ZERO:SYM0'
  const ask = (since: string) =>
    parseMessage(`{"action":"subscribe","symbols":["${symbol}"],"since":${since}}`)

  test.each([
    ['"yesterday"', 'since is "yesterday"'],
    ['-1', 'since is -1'],
    ['1767600000000', 'since is 1767600000000'],
    ['1.5', 'since is 1.5'],
    ['{"BROKERA:ZERO:NOPE":1}', 'which is not in symbols'],
    ['{"BROKERA:ZERO:SYM0":"1"}', 'since of "BROKERA:ZERO:SYM0'],
    ['[1]', 'since is [1]'],
    ['null', 'since is null'],
  ])('since %s is refused with a sentence', (since, words) => {
    expect(ask(since)).toMatchObject({ code: 'BAD_MESSAGE' })
    expect((ask(since) as { message: string }).message).toContain(words)
  })

  test("one time is every symbol's, an object says it for each", () => {
    const since = new Map([[symbol, 1_767_600_000]])
    expect(ask('1767600000')).toMatchObject({ since })
    expect(ask(`{"${symbol}":1767600000}`)).toMatchObject({ since })
  })

  test.each(['1', '"yes"', 'null'])('markers %s is refused', (markers) => {
    expect(codeOf(`{"action":"subscribe","symbols":[],"markers":${markers}}`)).toBe('BAD_MESSAGE')
  })
})
