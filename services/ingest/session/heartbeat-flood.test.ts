import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { seriesAt } from '../../../test/support/clients/raw-session.ts'
import { SessionFixture } from '../../../test/support/fixtures/session-fixture.ts'

const suite = new SessionFixture()
const heartbeats = 500

test('a flood of heartbeats pauses its own session, and the bars after it are stored later', async () => {
  const notes = vi.spyOn(suite.fixture.stores.board, 'note')
  const session = suite.connect()
  await session.hello(suite.feed.key)
  const before = notes.mock.calls.length
  for (let n = 0; n < heartbeats; n++) session.send({ heartbeat: { terminalConnected: true } })
  const stored = session.bars('LIVE', [seriesAt('EURUSD', [suite.minute - 60])])
  // The virtual clock does not advance, so the session reads no further message.
  await pause(500)
  expect(notes.mock.calls.length - before).toBeLessThan(heartbeats / 2)
  const answered = stored.then(() => true)
  await expect
    .poll(async () => {
      await suite.clock.advance(100)
      return Promise.race([answered, pause(1, false)])
    })
    .toBe(true)
  notes.mockRestore()
  await session.close()
})
