import { contourProgram, envoyProgram, helm3Program, kubernetesPrograms, nodePackages } from './programs.ts'

/** Builds or fetches the programs of a cluster before the first test, so that concurrent workers do not each do it. */
export default function setup(): void {
  kubernetesPrograms()
  helm3Program()
  contourProgram()
  envoyProgram()
  nodePackages()
}
