"""The signatures of sign.py are those of docs/vectors.json: python -m unittest sign_test"""

import json
import os
import unittest

from sign import sign

VECTORS = os.path.join(os.path.dirname(__file__), "..", "vectors.json")


class SignTest(unittest.TestCase):
    def test_vectors(self):
        with open(VECTORS) as file:
            vectors = json.load(file)
        self.assertTrue(vectors["statements"])
        for vector in vectors["statements"]:
            self.assertEqual(sign(vectors["signer"]["privateKey"], vector["payload"]), vector["encoded"])


if __name__ == "__main__":
    unittest.main()
