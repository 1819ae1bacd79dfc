import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestEdge,
  type RestEdge,
  secretOf,
} from '../../test/support/fixtures/rest-edge.ts'
import type { Stores } from '../ports/stores.ts'
import { underWayMax, waitMs } from './key-concurrency.ts'

const start = Date.UTC(2026, 0, 1)
const history = '/v1/history?symbol=BROKERA:ZERO:EURUSD&resolution=1&countback=5'

let edge: RestEdge
/** Reads of the store that are held up, by key. */
let held: { readonly key: string | undefined; readonly goOn: () => void }[]
let isHeldUp: (key: string | undefined) => boolean

const heldUp = (stores: Stores): Stores => ({
  ...stores,
  bars: {
    ...stores.bars,
    async read(query) {
      const key = query.reader?.key
      if (isHeldUp(key)) await new Promise<void>((goOn) => void held.push({ key, goOn }))
      return stores.bars.read(query)
    },
  },
})

beforeEach(async () => {
  held = []
  isHeldUp = (key) => key === 'key-1'
  edge = await openRestEdge({ start, around: heldUp })
  await edge.register(
    aFeed('BROKERA', 'ZERO'),
    aSymbol('BROKERA:ZERO:EURUSD'),
    aKey(1, ['BROKERA:ZERO']),
    aKey(2, ['BROKERA:ZERO']),
  )
  await edge.store('BROKERA:ZERO:EURUSD', '1', [aBar(start / 1000 - 120)])
})
afterEach(async () => {
  isHeldUp = () => false
  for (const { goOn } of held) goOn()
  await edge.close()
})

async function untilHeld(count: number): Promise<void> {
  await expect.poll(() => held.length).toBe(count)
}

test('of one key 16 requests are handled at once, and another key is answered meanwhile', async () => {
  const answers = Array.from({ length: underWayMax + 4 }, () => edge.ask(history, { key: 1 }))
  await untilHeld(underWayMax)
  expect((await edge.ask(history, { key: 2 })).status).toBe(200)
  expect(held).toHaveLength(underWayMax)
  expect(await edge.metrics()).toMatch(/^fxd_http_waiting_requests 4$/m)
  isHeldUp = () => false
  for (const { goOn } of held) goOn()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(underWayMax + 4).fill(200))
})

test('a request that gets no place in time is 500 with Retry-After', async () => {
  const first = Array.from({ length: underWayMax }, () => edge.ask(history, { key: 1 }))
  await untilHeld(underWayMax)
  const late = edge.ask(history, { key: 1 })
  await expect.poll(() => edge.metrics()).toMatch(/^fxd_http_waiting_requests 1$/m)
  await edge.clock.advance(waitMs)
  const { status, headers, body } = await late
  expect([status, headers['retry-after'], body.s]).toEqual([500, '2', 'error'])
  expect(await edge.metrics()).toMatch(/^fxd_http_overloaded_requests_total 1$/m)
  isHeldUp = () => false
  for (const { goOn } of held) goOn()
  await Promise.all(first)
})

test('a closed connection gives back the places of all of its requests', async () => {
  const sockets = [1, 2].map(() => {
    const socket = connect(edge.port, '127.0.0.1').on('error', () => undefined)
    socket.write(`GET ${history} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${secretOf(1)}\r\n\r\n`.repeat(8))
    return socket
  })
  await untilHeld(underWayMax)
  for (const socket of sockets) socket.destroy()
  await expect.poll(() => edge.metrics()).toMatch(/^fxd_http_requests_under_way 0$/m)
  isHeldUp = () => false
  expect((await edge.ask(history, { key: 1 })).status).toBe(200)
})
