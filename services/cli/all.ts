import type { Command } from 'commander'
import { runUntilSignal, type SignalSource } from '../platform/lifecycle.ts'
import { configOf, type Terminal } from './terminal.ts'

/** Signals of this process; what they end, they end for good. */
const processSignals: SignalSource = {
  on: (signal, listen) => process.on(signal, listen),
  exit: (code) => process.exit(code),
}

export function addAll(program: Command, terminal: Terminal): void {
  program
    .command('all')
    .summary('run the whole service in this process')
    .description('Run the whole service in this process, with its state in FXD_DATA_DIR, until Ctrl-C.')
    .action(async () => {
      const config = configOf(terminal)
      const [{ startAll }, { EndedWhileWaiting }, { greeting }, { tellSeeding }] = await Promise.all([
        import('../roles/all.ts'),
        import('../roles/until-available.ts'),
        import('./greeting.ts'),
        import('./seeding.ts'),
      ])
      const ending = new AbortController()
      const starting = startAll(config, { ending: ending.signal }).catch((cause: unknown) => {
        if (cause instanceof EndedWhileWaiting) return undefined
        throw cause
      })
      const ended = runUntilSignal(
        {
          async stop() {
            ending.abort()
            await (await starting)?.stop()
          },
          reload: () => void starting.then((service) => service?.reload()),
        },
        processSignals,
        terminal.clock,
      )
      const service = await starting
      if (service === undefined) process.exit(await ended)
      terminal.out(greeting(config, service))
      tellSeeding(service, terminal)
      // What is left open after a stop (a worker, a timer) must not hold the process.
      process.exit(await ended)
    })
}
