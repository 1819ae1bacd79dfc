import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { until } from '../../../test/acceptance/client/until.ts'
import { ask, readAnswer, upgradeRequest as request } from '../../../test/support/clients/raw-upgrade.ts'
import { openStreamFixture } from '../../../test/support/fixtures/stream-fixture.ts'
import type { Slots } from '../../ports/slots.ts'
import { lingerMs } from './refused-upgrades.ts'
import { handshakeTimeoutMs, upgradesPendingMax } from './upgrade-handler.ts'

describe('while Redis decides on a slot', () => {
  /** Slots whose `open` waits until the test releases it. */
  async function openWaiting() {
    let release: (() => void) | undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let asked = 0
    const waiting = await openStreamFixture({
      change: ({ slots }) => ({
        slots: {
          ...slots,
          async open(...args: Parameters<Slots['open']>) {
            asked += 1
            await gate
            return slots.open(...args)
          },
        },
      }),
    })
    return { waiting, release: () => release?.(), asked: () => asked }
  }

  test('T5: after many resets the process runs and no slot is in use', async () => {
    const { waiting, release, asked } = await openWaiting()
    const { secret, inUse } = await waiting.issue()
    // Node's own server, which removes its error listener at an upgrade and adds none.
    const bare = createServer().on('upgrade', waiting.stream.upgrade).listen(0, '127.0.0.1')
    await once(bare, 'listening')
    const { port } = bare.address() as AddressInfo
    const dial = async (key: string): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      await once(socket, 'connect')
      socket.write(request(`/v1/stream?api_key=${key}`))
      return socket
    }
    for (let wave = 1; wave <= 10; wave++) {
      const decided = await Promise.all(Array.from({ length: 30 }, () => dial(secret)))
      await until('the requests of their slots', () => asked() >= wave * 30)
      const early = await Promise.all(Array.from({ length: 30 }, (_, i) => dial(i % 2 ? 'no' : '')))
      for (const socket of [...decided, ...early]) socket.resetAndDestroy()
    }
    release()
    const count = () => new Promise((resolve) => void bare.getConnections((_, number) => resolve(number)))
    await until('all connections gone', async () => (await count()) === 0)
    await until('no slot in use', async () => (await inUse()) === 0)
    const socket = await waiting.connect(secret)
    await socket.settled()
    expect(await inUse()).toBe(1)
    bare.close()
    await waiting.close()
  })

  test('a client that waits longer than the deadline is cut, and its slot is free', async () => {
    const { waiting, release, asked } = await openWaiting()
    const { secret, inUse } = await waiting.issue()
    const attempt = waiting.connect(secret).catch((error: Error) => error.message)
    await until('the request of the slot', () => asked() === 1)
    await waiting.clock.advance(handshakeTimeoutMs)
    expect(await attempt).toMatch(/socket hang up|ECONNRESET/)
    release()
    await until('no slot in use', async () => (await inUse()) === 0)
    await waiting.close()
  })

  test('upgrades above the maximum are refused with 503 and Retry-After, the others continue', async () => {
    const { waiting, release, asked } = await openWaiting()
    const { secret } = await waiting.issue()
    const sockets: Socket[] = []
    for (let i = 0; i < upgradesPendingMax; i++) {
      const socket = await waiting.dial()
      socket.write(request(`/v1/stream?api_key=${secret}`))
      sockets.push(socket)
    }
    await until('the requests of all slots', () => asked() === upgradesPendingMax)
    const answer = await ask(waiting, request(`/v1/stream?api_key=${secret}`))
    expect([answer.status, answer.body.error.code]).toEqual([503, 'SERVER_ERROR'])
    expect(answer.head).toContain('\r\nRetry-After: 2')
    release()
    await until('the others to be open', () => waiting.stream.load().connections === upgradesPendingMax)
    await waiting.close()
  })

  test('a drain refuses pending upgrades', async () => {
    const { waiting, release, asked } = await openWaiting()
    const { secret, inUse } = await waiting.issue()
    const socket = await waiting.dial()
    socket.write(request(`/v1/stream?api_key=${secret}`))
    await until('the request of the slot', () => asked() === 1)
    await waiting.stream.drain()
    release()
    expect(await readAnswer(socket)).toMatchObject({ status: 503 })
    await until('no slot in use', async () => (await inUse()) === 0)
    await waiting.close()
  })
})

describe('refused clients that do not end their side', () => {
  test('do not block other clients, and are cut after half a second', async () => {
    const fixture = await openStreamFixture()
    const { secret } = await fixture.issue()
    for (let i = 0; i < upgradesPendingMax; i++) (await fixture.dial()).write(request('/v1/stream'))
    const refused = 'fxd_stream_upgrades_total{outcome="UNAUTHORIZED"}'
    await until('all to be refused', async () => (await fixture.metric(refused)) === upgradesPendingMax)
    const socket = await fixture.connect(secret)
    await socket.settled()
    expect(fixture.connections()).toBe(upgradesPendingMax + 1)
    await fixture.clock.advance(lingerMs)
    await until('the refused ones to be gone', () => fixture.connections() === 1)
    await socket.settled()
    await fixture.close()
  })

  test('above their maximum the oldest refused one is cut', async () => {
    const fixture = await openStreamFixture()
    const first = await fixture.dial()
    first.write(request('/v1/stream'))
    const refused = 'fxd_stream_upgrades_total{outcome="UNAUTHORIZED"}'
    await until('the first to be refused', async () => (await fixture.metric(refused)) === 1)
    for (let i = 0; i < upgradesPendingMax; i++) (await fixture.dial()).write(request('/v1/stream'))
    await until('all to be refused', async () => (await fixture.metric(refused)) === upgradesPendingMax + 1)
    await until('one to be gone', () => fixture.connections() === upgradesPendingMax)
    expect(await readAnswer(first)).toMatchObject({ status: 401 })
    await fixture.close()
  })
})
