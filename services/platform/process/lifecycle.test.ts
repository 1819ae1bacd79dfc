import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { silentLog } from '../log/log.ts'
import { createLifecycle, endTimeoutMs, runUntilSignal, stopTimeoutMs } from './lifecycle.ts'

const start = () => {
  const clock = createVirtualClock()
  const events: string[] = []
  const lifecycle = createLifecycle(clock, silentLog)
  const part = (name: string, stop: () => unknown = () => undefined) => ({
    name,
    start: () => void events.push(`start ${name}`),
    stop: () => {
      events.push(`stop ${name}`)
      return stop()
    },
  })
  return { clock, events, lifecycle, part }
}

test('parts stop once, in the reverse order of their start', async () => {
  const { events, lifecycle, part } = start()
  await lifecycle.start(part('store'))
  await lifecycle.start(part('http'))
  await Promise.all([lifecycle.stop(), lifecycle.stop()])
  await lifecycle.stop()
  expect(events).toEqual(['start store', 'start http', 'stop http', 'stop store'])
})

test('a part whose stop fails or never ends does not prevent the stop of others', async () => {
  const { clock, events, lifecycle, part } = start()
  await lifecycle.start(part('store'))
  await lifecycle.start(part('failing', () => Promise.reject(new Error('broken'))))
  await lifecycle.start(part('hanging', () => new Promise(() => undefined)))
  const stopped = lifecycle.stop()
  await clock.advance(stopTimeoutMs - 1)
  expect(events.at(-1)).toBe('stop hanging')
  await clock.advance(1)
  await stopped
  expect(events.slice(3)).toEqual(['stop hanging', 'stop failing', 'stop store'])
})

test('when a part fails to start, earlier parts are stopped and the failure is passed on', async () => {
  const { events, lifecycle, part } = start()
  await lifecycle.start(part('store'))
  const failing = { ...part('http'), start: () => Promise.reject(new Error('busy port')) }
  await expect(lifecycle.start(failing)).rejects.toThrow('busy port')
  expect(events).toEqual(['start store', 'stop store'])
})

test('a part whose start completes while the process is ending is stopped again', async () => {
  const { events, lifecycle, part } = start()
  let come: (() => void) | undefined
  const slow = { ...part('slow'), start: () => new Promise<void>((resolve) => (come = resolve)) }
  const starting = lifecycle.start(slow)
  await lifecycle.stop()
  come?.()
  await expect(starting).rejects.toThrow(/ending/)
  expect(events).toEqual(['stop slow'])
})

const signals = () => {
  const exits: (number | 'killed')[] = []
  return Object.assign(new EventEmitter(), {
    exits,
    exit: (code: number) => void exits.push(code),
    kill: () => void exits.push('killed'),
  })
}

test('the first signal stops all parts and ends with code 0', async () => {
  const source = signals()
  let stops = 0
  const ended = runUntilSignal({ stop: async () => void (stops += 1) }, source, createVirtualClock())
  source.emit('SIGTERM')
  expect(await ended).toBe(0)
  expect(stops).toBe(1)
  expect(source.exits).toEqual([])
})

test('a second signal ends the process at once; a repeat of the first one by npm does not', async () => {
  const source = signals()
  const clock = createVirtualClock()
  void runUntilSignal({ stop: () => new Promise(() => undefined) }, source, clock)
  source.emit('SIGINT')
  await clock.advance(20)
  source.emit('SIGINT')
  expect(source.exits).toEqual([])
  await clock.advance(1_000)
  source.emit('SIGINT')
  expect(source.exits).toEqual([130])
})

const draining = () => {
  const source = signals()
  const clock = createVirtualClock()
  const events: string[] = []
  const stop = (): Promise<void> => {
    events.push('stop')
    return new Promise(() => undefined)
  }
  void runUntilSignal({ stop, skipDrain: () => void events.push('skipDrain') }, source, clock)
  return { source, clock, events }
}

test('SIGTERM drains, a second one ends the drain, a third ends the process at once', async () => {
  const { source, clock, events } = draining()
  for (const after of [[], ['skipDrain']]) {
    source.emit('SIGTERM')
    expect(events).toEqual(['stop', ...after])
    await clock.advance(1_000)
  }
  expect(source.exits).toEqual([])
  source.emit('SIGTERM')
  expect(source.exits).toEqual([143])
})

test('Ctrl-C skips the drain', async () => {
  const { source, clock, events } = draining()
  source.emit('SIGINT')
  expect(events).toEqual(['skipDrain', 'stop'])
  await clock.advance(1_000)
  source.emit('SIGINT')
  expect(source.exits).toEqual([130])
})

const hanging = (drainMs: number) => {
  const source = signals()
  const clock = createVirtualClock()
  const stop = (): Promise<void> => new Promise(() => undefined)
  void runUntilSignal({ stop, skipDrain: () => undefined, drainMs }, source, clock)
  return { source, clock }
}

test('a process that has not ended by its drain time and 20 s after SIGTERM is killed', async () => {
  const { source, clock } = hanging(30_000)
  source.emit('SIGTERM')
  await clock.advance(30_000 + endTimeoutMs - 1)
  expect(source.exits).toEqual([])
  await clock.advance(1)
  expect(source.exits).toEqual(['killed'])
})

test.each([
  ['a second SIGTERM', 'SIGTERM'],
  ['Ctrl-C', 'SIGINT'],
] as const)('after %s a hanging end is killed after 20 s, without its drain', async (_name, signal) => {
  const { source, clock } = hanging(3_600_000)
  source.emit(signal)
  if (signal === 'SIGTERM') {
    await clock.advance(1_000)
    source.emit(signal)
  }
  await clock.advance(endTimeoutMs)
  expect(source.exits).toEqual(['killed'])
})

test('SIGHUP calls reload and ends nothing', () => {
  const source = signals()
  let reloads = 0
  void runUntilSignal(
    { stop: async () => undefined, reload: () => void (reloads += 1) },
    source,
    createVirtualClock(),
  )
  source.emit('SIGHUP')
  source.emit('SIGHUP')
  expect(reloads).toBe(2)
  expect(source.exits).toEqual([])
})
