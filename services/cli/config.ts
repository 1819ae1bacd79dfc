import type { Command } from 'commander'
import { describeConfig } from '../platform/config.ts'
import { type JsonOption, withJson } from './options.ts'
import { json, table } from './table.ts'
import { configOf, type Terminal } from './terminal.ts'

type Variable = ReturnType<typeof describeConfig>[number]

const head = `# Configuration

This page is what \`fxd config --markdown\` prints; do not edit it by hand.

fxd reads its configuration from environment variables, once at start. An unknown variable that begins with \`FXD_\` is
an error that names it. So is an invalid value. Kubernetes sets variables for each Service; fxd ignores those.

A role checks only the variables that it reads. \`fxd all\` and the other commands check every variable.
\`npm run -s fxd -- config\` prints what is set where you call it.

| variable | read by | default | value | meaning |
|---|---|---|---|---|
`

const code = (text: string): string => `\`${text}\``
/** Escapes `|`, which would end the cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|')

const row = ({ name, roles, fallback, wants, meaning }: Variable): string => {
  const cells = [code(name), roles.join(', '), fallback === '' ? 'none' : code(fallback), wants, meaning]
  return `| ${cells.map(cell).join(' | ')} |\n`
}

/** The page docs/configuration.md: all variables, without their current values. */
const configMarkdown = (variables: readonly Variable[]): string => head + variables.map(row).join('')

export function addConfig(program: Command, terminal: Terminal): void {
  withJson(program.command('config'))
    .summary('print every FXD_ variable')
    .description('Print every variable with what is set, its default and its meaning.')
    .option('--markdown', 'print the page docs/configuration.md, whatever is set')
    .action((options: JsonOption & { readonly markdown?: boolean }) => {
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
      // Errors are reported after the table, because the user wants to see all variables.
      configOf(terminal)
    })
}
