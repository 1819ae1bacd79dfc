import { spawnSync } from 'node:child_process'
import { type FromPackages, programOf } from './processes/debian-packages.ts'

const advice = 'install Prometheus (Debian: "apt-get install prometheus", macOS: "brew install prometheus")'

/** A program of the Debian package prometheus. */
export const prometheusProgram = (name: 'prometheus' | 'promtool'): FromPackages =>
  programOf({ packages: ['prometheus'], path: `usr/bin/${name}`, versionArgs: ['--version'], advice })

/** Runs `promtool` with these arguments; returns its output. */
function promtool(args: readonly string[], input = ''): { readonly isOk: boolean; readonly output: string } {
  const { command, env } = prometheusProgram('promtool')
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    input,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  if (error) throw error
  const output = `${stdout}${stderr}`
  return { isOk: status === 0, output: output || (status === 0 ? '' : `promtool ended with ${status}`) }
}

/** The complaints of `promtool check metrics` about an exposition; empty without complaints. */
export function promtoolComplaints(exposition: string): string {
  return promtool(['check', 'metrics'], exposition).output
}

/** The complaints of `promtool test rules` about a file of tests; empty if all tests pass. */
export function ruleTestComplaints(file: string): string {
  const { isOk, output } = promtool(['test', 'rules', file])
  return isOk ? '' : output
}
