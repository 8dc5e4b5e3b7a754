import '../../src/theme/tokens.css';
import '../../src/theme/base.css';

/** In the order of the file: a component with its states. */
export default { parameters: { layout: 'padded', controls: { disable: true } } };
