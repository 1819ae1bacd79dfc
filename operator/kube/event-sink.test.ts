import { expect, test } from 'vitest'
import { silentLog } from '../../services/platform/log/log.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { EventSink } from './event-sink.ts'
import type { KubeObject } from './object.ts'

function start() {
  const clock = createVirtualClock()
  const written: string[] = []
  let dropped = 0
  const api = {
    create: async <T extends KubeObject>(_: unknown, event: T): Promise<T> => {
      written.push((event as T & { note: string }).note)
      return event
    },
  }
  const sink = new EventSink({
    api,
    namespace: 'test',
    identity: 'a',
    clock,
    log: silentLog,
    dropped: () => void (dropped += 1),
  })
  const record = (note: string): void =>
    sink.record(
      'Feed',
      { metadata: { name: 'zero', uid: 'u' } },
      { type: 'Normal', reason: 'R', action: 'A', note },
    )
  return { clock, written, record, dropped: () => dropped }
}

test('the same Event about an object is written once in ten minutes', async () => {
  const { clock, written, record } = start()
  for (let i = 0; i < 5; i++) record('one')
  record('two')
  expect(written).toEqual(['one', 'two'])
  await clock.advance(600_000)
  record('one')
  expect(written).toEqual(['one', 'two', 'one'])
})

test('Events above sixty a minute are dropped and counted; later ones are written', async () => {
  const { clock, written, record, dropped } = start()
  for (let i = 0; i < 70; i++) record(`note ${i}`)
  expect([written.length, dropped()]).toEqual([60, 10])
  await clock.advance(60_000)
  record('later')
  expect(written.at(-1)).toBe('later')
})
