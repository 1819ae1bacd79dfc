import { createHash } from 'node:crypto'
import { connect as dial } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { read } from '../acceptance/client/http.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { closeSockets, connect } from '../acceptance/client/socket.ts'
import { target } from '../acceptance/client/target.ts'
import { ClockedService } from './clocked-service.ts'

const minuteMs = 60_000

let service: ClockedService
let key = ''
beforeEach(async () => {
  service = await ClockedService.start(Date.UTC(2026, 0, 5, 12))
  key = (await issueKey()).key
})
afterEach(async () => {
  closeSockets()
  await service.end()
})

const inUse = async () =>
  (await read<{ current: { ws_connections_in_use: number } }>('/v1/usage', key)).current.ws_connections_in_use

test('a socket without a message for 60 seconds is closed with 4000', async () => {
  const socket = await connect(key)
  await socket.settled()
  await service.pass(59)
  expect(await inUse()).toBe(1)
  await service.pass(6)
  expect(await socket.closed).toMatchObject({ code: 4000, reason: 'idle' })
  expect(await inUse()).toBe(0)
})

test('a message every 30 seconds keeps a socket open', async () => {
  const socket = await connect(key)
  for (let halfMinutes = 0; halfMinutes < 10; halfMinutes++) {
    await service.pass(30)
    await socket.settled()
  }
  expect(await inUse()).toBe(1)
})

test('a protocol ping keeps a socket open', async () => {
  const socket = await connect(key)
  for (let halfMinutes = 0; halfMinutes < 4; halfMinutes++) {
    await service.pass(50)
    const answered = new Promise((resolve) => socket.raw.once('pong', resolve))
    socket.raw.ping()
    await answered
  }
  expect(await inUse()).toBe(1)
})

test('bars pushed to a silent client do not keep its socket open', async () => {
  // Start in mid-minute: the first bar then comes before a silent client is idle.
  await service.passTo(Math.ceil(service.now / minuteMs) * minuteMs + minuteMs / 2)
  const socket = await connect(key)
  await socket.subscribe(['BROKERG:SIM:BTCUSD'])
  await service.eventually('the first bar', () => socket.bars().length > 0)
  await socket.settled()
  await service.pass(66)
  expect(await socket.closed).toMatchObject({ code: 4000 })
  expect(socket.bars().length).toBeGreaterThanOrEqual(2)
})

test('the slot of a client that vanished without a close is free within 90 seconds', async () => {
  const { hostname, port } = new URL(target().url)
  const nonce = createHash('sha1').update('vanish').digest().subarray(0, 16).toString('base64')
  const socket = dial(Number(port), hostname)
  socket.write(
    `GET /v1/stream?api_key=${key} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${nonce}\r\n\r\n`,
  )
  await new Promise((resolve) => socket.once('data', resolve))
  // From here on it neither reads, writes nor closes, like a machine that lost power.
  socket.pause()
  expect(await inUse()).toBe(1)
  await service.pass(90)
  expect(await inUse()).toBe(0)
  socket.destroy()
})
