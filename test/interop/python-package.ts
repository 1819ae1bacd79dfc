import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ForeignProcess, type Line, python } from './foreign-process.ts'

const source = fileURLToPath(new URL('../../clients/python', import.meta.url))

/** The client of clients/python, built and installed from the built file into a folder of its own. */
export class PythonPackage {
  readonly interpreter: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'fxd-python-'))

  constructor(requirements = 'requirements-client.txt') {
    this.interpreter = python(requirements)
    const [copy, built] = [join(this.#folder, 'source'), join(this.#folder, 'built')]
    // The build writes beside its sources, and what an earlier one left in a checkout would be packed.
    cpSync(source, copy, { recursive: true, filter: (path) => !/\/build$|\.egg-info$/.test(path) })
    this.#pip('wheel', '--no-build-isolation', '--no-deps', '--wheel-dir', built, copy)
    const wheels = readdirSync(built).map((name) => join(built, name))
    this.#pip('install', '--no-deps', '--target', this.site, ...wheels)
  }

  /** What `PYTHONPATH` must have. */
  get site(): string {
    return join(this.#folder, 'site')
  }

  run(script: string, args: readonly string[]): ForeignProcess {
    return new ForeignProcess(this.interpreter, script, args, { PYTHONPATH: this.site })
  }

  discard(): void {
    rmSync(this.#folder, { recursive: true })
  }

  #pip(...args: string[]): void {
    const command = ['-m', 'pip', '--quiet', '--disable-pip-version-check', ...args]
    execFileSync(this.interpreter, command, { stdio: ['ignore', 'ignore', 'inherit'] })
  }
}

/** The items that a follower has printed up to now. */
export const itemsOf = ({ lines }: ForeignProcess): Line[] => lines.filter((line) => 'type' in line)
export const timesOf = (follower: ForeignProcess): unknown[] => itemsOf(follower).map(({ time }) => time)
