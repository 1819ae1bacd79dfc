import type { describeConfig } from '../platform/config.ts'

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
/** A bar would end the cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|')

const row = ({ name, roles, fallback, wants, meaning }: Variable): string => {
  const cells = [code(name), roles.join(', '), fallback === '' ? 'none' : code(fallback), wants, meaning]
  return `| ${cells.map(cell).join(' | ')} |\n`
}

/** The page docs/configuration.md: every variable, without what is set. */
export const configMarkdown = (variables: readonly Variable[]): string => head + variables.map(row).join('')
