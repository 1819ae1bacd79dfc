import { spawnSync } from 'node:child_process'
import { type FromPackages, programOf } from './processes/debian-packages.ts'

const advice = 'install Prometheus (Debian: "apt-get install prometheus", macOS: "brew install prometheus")'

/** Of one package: `prometheus` or `promtool`. */
export const prometheusProgram = (name: 'prometheus' | 'promtool'): FromPackages =>
  programOf({ packages: ['prometheus'], path: `usr/bin/${name}`, versionArgs: ['--version'], advice })

/** What `promtool` says to these arguments; empty when it is content and says nothing. */
function promtool(
  args: readonly string[],
  input = '',
): { readonly isContent: boolean; readonly said: string } {
  const { command, env } = prometheusProgram('promtool')
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    input,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  if (error) throw error
  const said = `${stdout}${stderr}`
  return { isContent: status === 0, said: said || (status === 0 ? '' : `promtool ended with ${status}`) }
}

/** What `promtool check metrics` says against an exposition; empty when it is content. */
export function promtoolComplaints(exposition: string): string {
  return promtool(['check', 'metrics'], exposition).said
}

/** What `promtool test rules` says against a file of tests; empty when all of them pass. */
export function ruleTestComplaints(file: string): string {
  const { isContent, said } = promtool(['test', 'rules', file])
  return isContent ? '' : said
}
