import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { checkHandshake } from './handshake.ts'

const withProtocols = (protocols: string) =>
  checkHandshake({
    headers: {
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': protocols,
    },
  })

test('spaces and tabs around the names of subprotocols are allowed', () => {
  expect(withProtocols(' a ,\tb\t')).toBeUndefined()
})

// In quadratic time each header takes more than a minute.
test('a header with 300,000 spaces within a subprotocol is refused before the timeout', async () => {
  const spaces = ' '.repeat(300_000)
  for (const protocols of [`a${spaces}b`, `${spaces}"`, `${spaces}a${spaces};`]) {
    expect(withProtocols(protocols)?.code).toBe('BAD_REQUEST')
    // The timeout of a test is noticed between two turns of the event loop.
    await nextTurn()
  }
}, 5_000)
