import { once } from 'node:events'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/acceptance/client/until.ts'
import { clientFrame as frame, openRawClient } from '../../../test/support/clients/raw-client.ts'
import { effort } from '../../../test/support/effort.ts'
import {
  openStreamFixture,
  type StreamFixture,
  symbolNames,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { frameReadsMax } from '../upgrade/upgrade-handler.ts'

let fixture: StreamFixture
let secret: string
let inUse: () => Promise<number>
beforeAll(async () => {
  fixture = await openStreamFixture()
})
beforeEach(async () => {
  ;({ secret, inUse } = await fixture.issue())
})
afterAll(() => fixture.close())

const noSlotInUse = () => until('no slot in use', async () => (await inUse()) === 0)
const rawClient = () => openRawClient(fixture, secret)

describe('T7: accepted messages', () => {
  test('sixteen fragments are read, more are not', async () => {
    const pieces = '{"action":"ping"}'.split('')
    const fragments = (count: number): Buffer[] =>
      Array.from({ length: count }, (_, i) => {
        const text = i < count - 1 ? (pieces[i] ?? '') : pieces.slice(i).join('')
        return frame(text, { opcode: i === 0 ? 1 : 0, fin: i === count - 1 })
      })
    const fine = await rawClient()
    fine.socket.write(Buffer.concat(fragments(16)))
    const [pong] = (await once(fine.socket, 'data')) as [Buffer]
    expect(String(pong)).toContain('"pong"')
    fine.socket.write(Buffer.concat(fragments(17)))
    expect(await fine.goodbye).toBe(1008)
    fine.socket.destroy()
  })

  test('a frame that arrives in 500 reads is answered, one in more than 1,024 closes the socket', async () => {
    const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
    const { socket, goodbye } = await rawClient()
    socket.setNoDelay(true)
    const trickle = async (bytes: Buffer): Promise<void> => {
      for (const byte of bytes) {
        if (socket.closed) return
        socket.write(Buffer.of(byte))
        await turn()
      }
    }
    const symbols = symbolNames.slice(0, 24).map((name) => `BROKERA:ZERO:${name}`)
    const answer = once(socket, 'data')
    const fine = frame(JSON.stringify({ action: 'subscribe', symbols }))
    expect(fine.length).toBeGreaterThan(500)
    await trickle(fine)
    expect(String((await answer)[0])).toContain('"subscribed"')
    await trickle(frame('x'.repeat(2 * frameReadsMax)))
    expect(await goodbye).toBe(1008)
    socket.destroy()
  })

  test('an endless message closes the socket at sixteen fragments, on each of many sockets', async () => {
    const clients = await Promise.all(Array.from({ length: 100 }, () => rawClient()))
    for (const [i, { socket }] of clients.entries()) {
      for (let n = 0; n < 20; n++) socket.write(frame('x'.repeat(i), { opcode: n === 0 ? 1 : 0, fin: false }))
    }
    for (const { socket, goodbye } of clients) {
      expect(await goodbye).toBe(1008)
      socket.destroy()
    }
    await noSlotInUse()
  })

  test('a message of 64 KiB is read', async () => {
    const message = JSON.stringify({ action: 'ping', x: '' }).replace('""', `"${'x'.repeat(65_512)}"`)
    expect(message).toHaveLength(65_536)
    const socket = await fixture.connect(secret)
    socket.send(message)
    await socket.next('pong')
    await socket.close()
  })
})

test('no sequence of frames ends the process or keeps a slot in use', {
  timeout: 120_000 * Math.max(1, effort),
}, async () => {
  const opcode = fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, { weight: 2, arbitrary: fc.nat(15) })
  const text = fc.oneof(
    fc.constantFrom(
      '{"action":"ping"}',
      '{"action":"subscribe","symbols":["BROKERA:ZERO:SYM1","x"]}',
      '{',
      '',
    ),
    fc.json(),
  )
  const payload = fc.oneof(
    text.map((each) => Buffer.from(each)),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  )
  const odd = fc
    .tuple(payload, opcode, fc.nat(9), fc.nat(60), fc.option(fc.nat(70_000)))
    .map(([bytes, code, fin, masked, length]) =>
      frame(bytes, {
        opcode: code,
        fin: fin > 0,
        masked: masked > 0,
        length: masked < 55 ? -1 : (length ?? -1),
      }),
    )
  const stray = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
  const scripts = fc.array(fc.oneof({ weight: 9, arbitrary: odd }, { weight: 1, arbitrary: stray }), {
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(scripts, fc.boolean(), async (script, abrupt) => {
      const { socket } = await rawClient()
      for (const bytes of script) socket.write(bytes)
      if (abrupt) socket.resetAndDestroy()
      else socket.end()
      if (!socket.closed) await once(socket, 'close')
    }),
    { numRuns: Math.ceil(500 * effort) },
  )
  await noSlotInUse()
  const socket = await fixture.connect(secret)
  await socket.settled()
  await socket.close()
})
