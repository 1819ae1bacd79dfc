import { spawn } from 'node:child_process'

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Variables of the test suite; a command of the service would refuse them as unknown. */
const suiteVariable = /^FXD_(ACCEPTANCE|TEST|UDF)_/
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !suiteVariable.test(name)))

/** Runs a command line with more arguments, each passed unchanged; never throws because of an exit code. */
export const run = (commandLine: string, args: readonly string[], deadlineMs = 60_000): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `${commandLine} "$@"`, 'fxd', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment(),
      timeout: deadlineMs,
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }))
  })
