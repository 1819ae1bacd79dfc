import { expect, onTestFinished, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { type Running, runRole } from './run-role.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

test.each(signals)(
  'after %s during a start that then fails, the failure has no unhandled rejection beside it',
  async (signal) => {
    const earlier = signals.flatMap((each) => process.listeners(each))
    const unhandled: unknown[] = []
    const note = (cause: unknown): void => void unhandled.push(cause)
    process.on('unhandledRejection', note)
    onTestFinished(() => {
      process.off('unhandledRejection', note)
      for (const each of signals)
        for (const listen of process.listeners(each)) if (!earlier.includes(listen)) process.off(each, listen)
    })
    const { promise, reject } = Promise.withResolvers<Running>()
    const terminal = {
      environment: {},
      clock: createVirtualClock(),
      watched: false,
      folder: '/',
      input: () => process.stdin,
      out: () => undefined,
      err: () => undefined,
    }
    const ended = runRole(
      terminal,
      () => promise,
      () => undefined,
    )
    const count = process.listenerCount(signal)
    await expect.poll(() => process.listenerCount(signal)).toBeGreaterThan(count)
    process.listeners(signal).at(-1)?.(signal)
    reject(new Error('no space'))
    await expect(ended).rejects.toThrow('no space')
    // Node reports rejections in a later turn.
    await new Promise((resolve) => void setImmediate(resolve))
    expect(unhandled).toEqual([])
  },
)
