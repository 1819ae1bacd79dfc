import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { StreamSocket } from '../../../test/acceptance/client/socket.ts'
import { effort } from '../../../test/support/effort.ts'
import { openStreamFixture, type StreamFixture } from '../../../test/support/fixtures/stream-fixture.ts'

let fixture: StreamFixture
let socket: StreamSocket
beforeAll(async () => {
  fixture = await openStreamFixture()
  socket = await fixture.connect((await fixture.issue()).secret)
})
afterAll(() => fixture.close())

const messageBytesMax = 65_536
const errorLengthMax = 800
/** At least two levels: `[]` is a good list of symbols, and `0` a good time. */
const lengthMin = 16

/** Nested lists or objects, or one string, as long as the message allows. */
const nested = fc
  .tuple(
    fc.constantFrom('[]', '{"":}', '{"a":[]}', '"'),
    fc.integer({ min: lengthMin, max: messageBytesMax - 200 }),
  )
  .map(([unit, length]) => {
    const levels = Math.floor(length / unit.length)
    if (unit === '"') return `"${'x'.repeat(length)}"`
    if (unit === '[]') return '['.repeat(levels) + ']'.repeat(levels)
    if (unit === '{"":}') return `${'{"":'.repeat(levels)}0${'}'.repeat(levels)}`
    return `${'{"a":['.repeat(levels)}${']}'.repeat(levels)}`
  })

/** Every field of every client message, and the whole message. */
const fields: Readonly<Record<string, (value: string) => string>> = {
  'the whole message': (value) => value,
  'an item of a list': (value) => `[${value}]`,
  action: (value) => `{"action":${value}}`,
  type: (value) => `{"action":"subscribe","symbols":[],"type":${value}}`,
  symbols: (value) => `{"action":"subscribe","symbols":${value}}`,
  'symbols[1]': (value) => `{"action":"subscribe","symbols":["a",[${value}]]}`,
  markers: (value) => `{"action":"subscribe","symbols":[],"markers":${value}}`,
  since: (value) => `{"action":"subscribe","symbols":["a"],"since":${value}}`,
  'since of a symbol': (value) => `{"action":"subscribe","symbols":["a"],"since":{"a":${value}}}`,
  'type of unsubscribe': (value) => `{"action":"unsubscribe","symbols":[],"type":${value}}`,
  'symbols of unsubscribe': (value) => `{"action":"unsubscribe","symbols":${value}}`,
}

test.each(Object.entries(fields))(
  'nested JSON up to 64 KiB as %s is answered by a short error, and the socket stays open',
  async (_field, message) => {
    await fc.assert(
      fc.asyncProperty(nested, async (value) => {
        socket.send(message(value))
        const answer = socket.next('error')
        // Each costs many messages of the allowance.
        await fixture.clock.advance(1_000)
        const error = await answer
        expect(['BAD_MESSAGE', 'UNSUPPORTED_TYPE']).toContain(error['code'])
        expect(JSON.stringify(error).length).toBeLessThan(errorLengthMax)
      }),
      { numRuns: Math.ceil(10 * effort), examples: [['['.repeat(32_000) + ']'.repeat(32_000)]] },
    )
    const pong = socket.next('pong')
    socket.send({ action: 'ping' })
    await fixture.clock.advance(1_000)
    await pong
  },
)

test('nested JSON in an unknown field is ignored', async () => {
  const pong = socket.next('pong')
  socket.send(`{"action":"ping","symbols":${'['.repeat(32_000)}${']'.repeat(32_000)}}`)
  await fixture.clock.advance(1_000)
  expect(await pong).toMatchObject({ type: 'pong' })
})
