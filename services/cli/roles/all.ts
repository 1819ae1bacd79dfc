import type { Command } from 'commander'
import { configOf, type Terminal } from '../terminal.ts'
import { runRole } from './run-role.ts'

export function addAll(program: Command, terminal: Terminal): void {
  program
    .command('all')
    .summary('run the whole service in this process')
    .description('Run the whole service in this process, with its state in FXD_DATA_DIR, until Ctrl-C.')
    .action(async () => {
      const config = configOf(terminal)
      const [{ startAll }, { greeting }, { reportHistory }] = await Promise.all([
        import('../../roles/all.ts'),
        import('./greeting.ts'),
        import('./history-progress.ts'),
      ])
      await runRole(
        terminal,
        (ending) => startAll(config, { ending }),
        (service) => {
          terminal.out(greeting(config, service))
          reportHistory(service, terminal)
        },
      )
    })
}
