import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
  secretOf,
} from '../../test/support/fixtures/rest-fixture.ts'
import type { Stores } from '../ports/stores.ts'
import { deadlineMs } from './deadline.ts'
import { underWayMax, waitMs } from './key-concurrency.ts'

const start = Date.UTC(2026, 0, 1)
const history = '/v1/history?symbol=BROKERA:ZERO:EURUSD&resolution=1&countback=5'

let edge: RestFixture
/** Reads of the store that wait, by key. */
let blocked: { readonly key: string | undefined; readonly resume: () => void }[]
let isBlocked: (key: string | undefined) => boolean

/** How long the limits take to decide, and how many decisions are under way. */
let decisionMs: number
let deciding: number

const blocking = (stores: Stores): Stores => ({
  ...stores,
  limits: {
    ...stores.limits,
    async admit(...request) {
      deciding += 1
      if (decisionMs > 0) await edge.clock.sleep(decisionMs)
      deciding -= 1
      return stores.limits.admit(...request)
    },
  },
  bars: {
    ...stores.bars,
    async read(query) {
      const key = query.reader?.key
      if (isBlocked(key)) await new Promise<void>((resume) => void blocked.push({ key, resume }))
      return stores.bars.read(query)
    },
  },
})

beforeEach(async () => {
  blocked = []
  decisionMs = 0
  deciding = 0
  isBlocked = (key) => key === 'key-1'
  edge = await openRestFixture({ start, around: blocking })
  await edge.register(
    aFeed('BROKERA', 'ZERO'),
    aSymbol('BROKERA:ZERO:EURUSD'),
    aKey(1, ['BROKERA:ZERO']),
    aKey(2, ['BROKERA:ZERO']),
  )
  await edge.store('BROKERA:ZERO:EURUSD', '1', [aBar(start / 1000 - 120)])
})
afterEach(async () => {
  isBlocked = () => false
  for (const { resume } of blocked) resume()
  await edge.close()
})

async function untilHeld(count: number): Promise<void> {
  await expect.poll(() => blocked.length).toBe(count)
}

test('16 requests of one key are handled at once, and another key is answered meanwhile', async () => {
  const answers = Array.from({ length: underWayMax + 4 }, () => edge.ask(history, { key: 1 }))
  await untilHeld(underWayMax)
  expect((await edge.ask(history, { key: 2 })).status).toBe(200)
  expect(blocked).toHaveLength(underWayMax)
  expect(await edge.metrics()).toMatch(/^fxd_http_waiting_requests 4$/m)
  isBlocked = () => false
  for (const { resume } of blocked) resume()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(underWayMax + 4).fill(200))
})

test('a request that waits too long is 500 with Retry-After', async () => {
  const first = Array.from({ length: underWayMax }, () => edge.ask(history, { key: 1 }))
  await untilHeld(underWayMax)
  const late = edge.ask(history, { key: 1 })
  await expect.poll(() => edge.metrics()).toMatch(/^fxd_http_waiting_requests 1$/m)
  await edge.clock.advance(waitMs)
  const { status, headers, body } = await late
  expect([status, headers['retry-after'], body.s]).toEqual([500, '2', 'error'])
  expect(await edge.metrics()).toMatch(/^fxd_http_overloaded_requests_total 1$/m)
  isBlocked = () => false
  for (const { resume } of blocked) resume()
  await Promise.all(first)
})

test('a request whose rate decision took a second is 500 with Retry-After within two seconds', async () => {
  const first = Array.from({ length: underWayMax }, () => edge.ask(history, { key: 1 }))
  await untilHeld(underWayMax)
  decisionMs = 1_000
  const late = edge.ask(history, { key: 1 })
  await expect.poll(() => deciding).toBe(1)
  await edge.clock.advance(decisionMs)
  await expect.poll(() => edge.metrics()).toMatch(/^fxd_http_waiting_requests 1$/m)
  await edge.clock.advance(deadlineMs - decisionMs)
  const { status, headers } = await late
  expect([status, headers['retry-after']]).toEqual([500, '2'])
  expect(await edge.metrics()).toMatch(/^fxd_http_overloaded_requests_total 1$/m)
  isBlocked = () => false
  for (const { resume } of blocked) resume()
  await Promise.all(first)
})

test('a connection that is reset ends the count of all its requests', async () => {
  const sockets = [1, 2].map(() => {
    const socket = connect(edge.port, '127.0.0.1').on('error', () => undefined)
    socket.write(`GET ${history} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${secretOf(1)}\r\n\r\n`.repeat(8))
    return socket
  })
  await untilHeld(underWayMax)
  // A closed side alone says nothing: a client may close it after its request and wait for the answer.
  for (const socket of sockets) socket.resetAndDestroy()
  await expect.poll(() => edge.metrics()).toMatch(/^fxd_http_requests_under_way 0$/m)
  isBlocked = () => false
  expect((await edge.ask(history, { key: 1 })).status).toBe(200)
})
