import { expect, test } from 'vitest'
import { startGatedThread } from '../../../../test/support/fixtures/gated-thread.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { utcMs } from '../../../core/clocks/feed-clock.ts'
import { feedKey } from '../../../core/feeds/compound-key.ts'
import { noCounters } from '../../../core/keys/usage.ts'
import { createLog, type Log, silentLog } from '../../../platform/log/log.ts'
import type { MemoryRows } from '../file/memory-rows.ts'
import { FileWriter, turnDeadlineMs } from '../threads/file-writer.ts'
import type { WriterCalls } from '../threads/writer.ts'
import { startMemory } from './memory.ts'

const noRows: MemoryRows = { usage: [], uses: [], liveness: [] }
const feed = feedKey('BROKERA', 'ZERO')

async function start(log: Log = silentLog) {
  const clock = createVirtualClock({ start: Date.UTC(2026, 0, 5, 12) })
  const writer = await startGatedThread<WriterCalls>(clock, turnDeadlineMs)
  const queue = new FileWriter(writer.thread, clock, silentLog)
  const memory = startMemory(noRows, queue, clock, log)
  const written = () => writer.seen.map(({ argument }) => (argument as { rows: MemoryRows }).rows)
  return { clock, writer, queue, memory, written }
}

test('each second only changed values are written, each as a whole', async () => {
  const { clock, writer, queue, memory, written } = await start()
  writer.letThrough(100)
  const second = async () => {
    await clock.advance(1_000)
    await queue.drain()
  }
  await second()
  memory.usage.add('a', 'requests', 'history')
  memory.usage.add('b', 'rate_limited')
  await second()
  await second()
  memory.usage.add('a', 'requests', 'status')
  memory.liveness.set(feed, { receivedAt: utcMs(1) })
  await second()
  const row = (keyId: string, counters: object) => ({
    keyId,
    day: '2026-01-05',
    counters: { ...noCounters, ...counters },
  })
  expect(written()).toEqual([
    { ...noRows, usage: [row('a', { requests: 1, history: 1 }), row('b', { rate_limited: 1 })] },
    {
      ...noRows,
      usage: [row('a', { requests: 2, history: 1, status: 1 })],
      liveness: [[feed, { receivedAt: 1 }]],
    },
  ])
  await memory.close()
})

test('after a failed write its values are written later, with those that changed during it', async () => {
  const { clock, writer, queue, memory, written } = await start()
  memory.usage.add('refused', 'requests')
  await clock.advance(1_000)
  memory.usage.add('a', 'requests')
  writer.letThrough(100)
  await queue.drain()
  await clock.advance(1_000)
  await queue.drain()
  const keys = written().map(({ usage }) => usage.map(({ keyId }) => keyId))
  expect(keys[0]).toEqual(['refused'])
  expect(keys[1]?.toSorted()).toEqual(['a', 'refused'])
  await memory.close()
})

test('failing writes of counters are logged once, and once more when counters are stored again', async () => {
  const lines: string[] = []
  const log = createLog('info', {
    write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg),
  })
  const { clock, writer, queue, memory } = await start(log)
  writer.letThrough(100)
  const second = async (): Promise<void> => {
    await clock.advance(1_000)
    await queue.drain()
  }
  memory.liveness.set(feed, { receivedAt: 'refused' as never })
  await expect.poll(() => second().then(() => writer.seen.length)).toBeGreaterThan(3)
  expect(lines).toEqual(['failed to store counters; retrying every second'])
  memory.liveness.set(feed, { receivedAt: utcMs(1) })
  await expect.poll(() => second().then(() => lines.slice(1))).toEqual(['counters are stored again'])
  await memory.close()
})

test('while one write is under way, all later changes wait and are written together', async () => {
  const { clock, writer, queue, memory, written } = await start()
  for (let second = 0; second < 5; second++) {
    memory.usage.add('a', 'requests')
    await clock.advance(1_000)
  }
  expect(written()).toHaveLength(1)
  writer.letThrough(100)
  await queue.drain()
  await clock.advance(1_000)
  await queue.drain()
  expect(written().map(({ usage }) => usage[0]?.counters.requests)).toEqual([1, 5])
  await memory.close()
})

test('closing writes all changed values', async () => {
  const { writer, memory, written } = await start()
  writer.letThrough(100)
  memory.uses.set('a', { minute: 1, usedMinute: 2, day: 3, usedDay: 4 })
  await memory.close()
  expect(written().at(-1)?.uses).toEqual([['a', { minute: 1, usedMinute: 2, day: 3, usedDay: 4 }]])
})
