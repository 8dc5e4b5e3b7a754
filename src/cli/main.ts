import { run } from './program';

run(process.argv.slice(2)).then((status) => {
  process.exitCode = status;
});
