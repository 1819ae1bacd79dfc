import { isatty } from 'node:tty'
import { endProcess, killProcess } from '../../platform/process/end-process.ts'
import { runUntilSignal, type SignalSource } from '../../platform/process/lifecycle.ts'
import { outliveReaders } from '../../platform/process/standard-streams.ts'
import type { Terminal } from '../terminal.ts'

/** The signals of this process. A SIGHUP because the terminal was closed counts as SIGTERM. */
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
  skipDrain?(): void
  reload?(): Promise<void>
}

/** Runs a role until a signal ends it, then ends this process. A stop may take `drainMs` longer, to drain. */
export async function runRole<T extends Running>(
  terminal: Terminal,
  start: (ending: AbortSignal) => Promise<T>,
  onReady: (running: T) => void,
  drainMs = 0,
): Promise<void> {
  outliveReaders()
  const { EndedWhileWaiting } = await import('../../platform/until-available.ts')
  const ending = new AbortController()
  const starting = start(ending.signal).catch((cause: unknown) => {
    if (cause instanceof EndedWhileWaiting) return undefined
    throw cause
  })
  // Signals use this promise. It hides a failed start: the caller reports it, and nothing is left to stop.
  const started = starting.catch(() => undefined)
  const ended = runUntilSignal(
    {
      async stop() {
        ending.abort()
        await (await started)?.stop()
      },
      skipDrain: () => void started.then((running) => running?.skipDrain?.()),
      reload: () => void started.then((running) => running?.reload?.()),
      drainMs,
    },
    processSignals(terminal),
    terminal.clock,
  )
  const running = await starting
  if (running !== undefined) onReady(running)
  // Handles that are still open after a stop (a worker, a timer) must not keep the process running.
  await endProcess(await ended, terminal.clock)
}
