import { expect, test, vi } from 'vitest'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'
import { terminalPinId } from '../../core/registry/terminal-pin.ts'

const suite = new SessionFixture()
const first = 'Broker Ltd / Broker-Live / 0123456789abcdef'
const other = 'Broker Ltd / Broker-Demo / fedcba9876543210'
const beat = (terminalIdentity?: string) => ({
  heartbeat: { terminalConnected: true, ...(terminalIdentity !== undefined && { terminalIdentity }) },
})
const stored = (): string | undefined => suite.fixture.registry.view().terminals.get(suite.feed.key)
const begin = async () => {
  const session = suite.connect()
  const { welcome } = await session.hello(suite.feed.key)
  return { session, told: welcome?.terminalIdentity }
}
const clear = () =>
  suite.fixture.writer.change(() => ({
    rows: [{ kind: 'terminal', id: terminalPinId(suite.feed.key), body: { feed: suite.feed.key } }],
    result: undefined,
  }))

test('the first terminal that a heartbeat names is stored, told by the next Welcome, and not replaced', async () => {
  const { session, told } = await begin()
  expect(told).toBeUndefined()
  session.send(beat())
  session.send(beat(first))
  await expect.poll(stored).toBe(first)
  session.send(beat(other))
  await session.close()
  const again = await begin()
  expect(again.told).toBe(first)
  expect(stored()).toBe(first)
  await again.session.close()
})

test('after a person accepts another terminal the session ends with UNAVAILABLE, and the next Welcome tells none', async () => {
  const { session } = await begin()
  session.send(beat(first))
  await expect.poll(stored).toBe(first)
  await clear()
  session.send(beat(first))
  expect(await session.ended).toEqual({
    code: 'UNAVAILABLE',
    details: `the terminal that ${suite.feed.key} accepts has changed; connect again`,
  })
  const { session: next, told } = await begin()
  expect(told).toBeUndefined()
  next.send(beat(other))
  await expect.poll(stored).toBe(other)
  await next.close()
})

test('a failed write is retried with a heartbeat after 10 s', async () => {
  const { session } = await begin()
  const append = vi.spyOn(suite.fixture.stores.registry, 'append').mockRejectedValueOnce(new Error('away'))
  session.send(beat(first))
  await expect.poll(() => append.mock.calls.length).toBe(1)
  append.mockRestore()
  expect(stored()).toBeUndefined()
  await suite.clock.advance(10_000)
  session.send(beat(first))
  await expect.poll(stored).toBe(first)
  await session.close()
})

test('a name of more than 2,048 characters ends the session with INVALID_ARGUMENT', async () => {
  const { session } = await begin()
  session.send(beat('x'.repeat(2_049)))
  expect(await session.ended).toMatchObject({
    code: 'INVALID_ARGUMENT',
    details: 'Heartbeat.terminal_identity: got 2049 characters, wanted at most 2048',
  })
})
