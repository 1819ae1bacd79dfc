import { expect, test } from 'vitest'
import { Paths } from './paths.ts'

const pathsOf = (count: number): Paths<number> => {
  let made = 0
  return new Paths(() => made++, count)
}

test('a table keeps its path, whatever tables come after it', () => {
  const paths = pathsOf(4)
  const before = ['m1_0of4', 'm1_1of4'].map((table) => paths.of(table))
  for (let i = 0; i < 50; i++) paths.of(`other_${i}`)
  expect(['m1_0of4', 'm1_1of4'].map((table) => paths.of(table))).toEqual(before)
})

test('tables that are first written together are spread evenly over the paths', () => {
  const paths = pathsOf(4)
  const used = Array.from({ length: 32 }, (_, bucket) => paths.of(`m1_${bucket}of32`))
  expect([0, 1, 2, 3].map((path) => used.filter((each) => each === path).length)).toEqual([8, 8, 8, 8])
})
