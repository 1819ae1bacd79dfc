import type { Command } from 'commander'
import { describeConfig } from '../platform/config.ts'
import { configMarkdown } from './config-markdown.ts'
import { withJson } from './options.ts'
import { json, table } from './table.ts'
import { configOf, type Terminal } from './terminal.ts'

export function addConfig(program: Command, terminal: Terminal): void {
  withJson(program.command('config'))
    .summary('print every FXD_ variable')
    .description('Print every variable with what is set, its default and its meaning.')
    .option('--markdown', 'print the page docs/configuration.md, whatever is set')
    .action((options: { readonly json?: boolean; readonly markdown?: boolean }) => {
      const variables = describeConfig(terminal.environment)
      if (options.markdown) return terminal.out(configMarkdown(variables))
      if (options.json) {
        const shown = variables.map(({ name, fallback, set, meaning }) => ({
          name,
          value: set ?? fallback,
          default: fallback,
          meaning,
        }))
        terminal.out(json(shown))
      } else {
        const rows = variables.map(({ name, fallback, set, meaning }) => [
          name,
          set ?? '-',
          fallback || '-',
          meaning,
        ])
        terminal.out(table(['VARIABLE', 'SET TO', 'DEFAULT', 'MEANING'], rows))
      }
      // Printed first, refused after: whoever asks wants to see all of them.
      configOf(terminal)
    })
}
