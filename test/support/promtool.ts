import { spawnSync } from 'node:child_process'
import { programOf } from './debian-packages.ts'

/** What `promtool check metrics` says against an exposition; empty when it is content. */
export function promtoolComplaints(exposition: string): string {
  const { command, env } = programOf({
    packages: ['prometheus'],
    path: 'usr/bin/promtool',
    versionArgs: ['--version'],
    advice: 'install Prometheus (Debian: "apt-get install prometheus", macOS: "brew install prometheus")',
  })
  const { status, stdout, stderr, error } = spawnSync(command, ['check', 'metrics'], {
    input: exposition,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  if (error) throw error
  return status === 0 && stderr === '' ? '' : `${stdout}${stderr}` || `promtool ended with ${status}`
}
