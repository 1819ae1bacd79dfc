import { isatty } from 'node:tty'
import { endProcess, killProcess } from '../platform/end-process.ts'
import { runUntilSignal, type SignalSource } from '../platform/lifecycle.ts'
import { outliveReaders } from '../platform/standard-streams.ts'
import type { Terminal } from './terminal.ts'

/** Signals of this process; what they end, they end for good. A SIGHUP of a terminal that was closed is a SIGTERM. */
const processSignals = (terminal: Terminal): SignalSource => ({
  on(signal, listen) {
    if (signal !== 'SIGHUP') return process.on(signal, listen)
    const terminals = [0, 2].filter(isatty)
    return process.on(signal, () => {
      const isClosed = terminals.length > 0 && !terminals.some(isatty)
      if (isClosed) process.emit('SIGTERM')
      else listen()
    })
  },
  exit: (code) => void endProcess(code, terminal.clock),
  kill() {
    terminal.err('fxd: timed out: this process did not end in time and is killed\n')
    killProcess()
  },
})

export interface Running {
  stop(): Promise<void>
  hurry?(): void
  reload?(): Promise<void>
}

/**
 * Runs a role until a signal ends it, and this process with it; `onReady` is called once it is ready. An end may wait
 * for others for `drainMs`.
 */
export async function runRole<T extends Running>(
  terminal: Terminal,
  start: (ending: AbortSignal) => Promise<T>,
  onReady: (running: T) => void,
  drainMs = 0,
): Promise<void> {
  outliveReaders()
  const { EndedWhileWaiting } = await import('../platform/until-available.ts')
  const ending = new AbortController()
  const starting = start(ending.signal).catch((cause: unknown) => {
    if (cause instanceof EndedWhileWaiting) return undefined
    throw cause
  })
  const ended = runUntilSignal(
    {
      async stop() {
        ending.abort()
        await (await starting)?.stop()
      },
      hurry: () => void starting.then((running) => running?.hurry?.()),
      reload: () => void starting.then((running) => running?.reload?.()),
      drainMs,
    },
    processSignals(terminal),
    terminal.clock,
  )
  const running = await starting
  if (running !== undefined) onReady(running)
  // What is left open after a stop (a worker, a timer) must not hold the process.
  await endProcess(await ended, terminal.clock)
}
